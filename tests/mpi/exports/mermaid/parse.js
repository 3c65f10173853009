// Reads a diagram on standard input by Mermaid's parser: prints what kind it is, or where it is wrong (exit status 1).
import { readFileSync } from 'node:fs';
import mermaid from 'mermaid';

try {
  console.log((await mermaid.parse(readFileSync(0, 'utf8'))).diagramType);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
