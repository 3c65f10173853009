// Builds dist/viewer.html: src/page.html with the styles and the bundled script, one file that loads nothing else.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';

const kBytesMax = 400 * 1024;
const root = dirname(fileURLToPath(import.meta.url));
const source = join(root, 'src');

const bundle = await build({
  entryPoints: [join(source, 'main.js')],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'inline',
  write: false,
  metafile: true,
  absWorkingDir: root,
});
// "</script" inside a string of the bundle would end the element.
const script = bundle.outputFiles[0].text.replaceAll('</script', '<\\/script');
const sheets = readdirSync(join(source, 'styles')).filter((name) => name.endsWith('.css')).sort();
const style = (await transform(sheets.map((name) => readFileSync(join(source, 'styles', name), 'utf8')).join('\n'),
  { loader: 'css', minify: true })).code;

// The licenses of bundled libraries require their text in every copy.
function licenses(metafile) {
  const packages = new Set(Object.keys(metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean));
  const names_of_text = new Map();
  for (const name of [...packages].sort()) {
    const text = readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8').trim();
    names_of_text.set(text, [...(names_of_text.get(text) ?? []), name]);
  }
  return [...names_of_text].map(([text, names]) => `${names.join(', ')}:\n${text}`).join('\n\n').replaceAll('--', '- -');
}

// Replacements are functions, so that a "$&" in the bundle is not a pattern.
const page = readFileSync(join(source, 'page.html'), 'utf8')
  .replace('/* style */', () => style)
  .replace('/* script */', () => script)
  .replace('licenses of the bundled modules', () => licenses(bundle.metafile));
if (page.split('\n').filter((line) => line === '<!-- margay:data -->').length !== 1) {
  throw new Error('src/page.html must have the line "<!-- margay:data -->" once');
}
if (page.length > kBytesMax) {
  throw new Error(`dist/viewer.html would have ${page.length} bytes; ${kBytesMax} are allowed`);
}
mkdirSync(join(root, 'dist'), { recursive: true });
writeFileSync(join(root, 'dist', 'viewer.html'), page);
console.log(`dist/viewer.html: ${page.length} bytes`);
