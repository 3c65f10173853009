// The parts of a story. `margay trace story` formats it in fixed columns; here the columns are as narrow as possible.

const kStep = /^ *(\d+\.\d{3}) {2}rank (\d+) +/;
const kActorWidth = 14;

// {time, rank, actor, text} of a step's line, or null.
function step_of(line) {
  const found = kStep.exec(line);
  if (!found) return null;
  const at = found[0].search(/rank/) + 'rank '.length + Math.max(4, found[2].length) + 1;
  return { time: found[1], rank: `rank ${found[2]}`, actor: line.slice(at, at + kActorWidth).trim(), text: line.slice(at + kActorWidth).trim() };
}

/**
 * @param {string} story @param {number} first ns, the first event of the message itself
 * @returns {{name: string, conclusions: string[], steps: string[], text_at: number, origin: number}} `steps` in columns, their
 *   texts from character `text_at` on; `origin`: the time zero of the story, in ns, NaN if it is unknown
 */
export function story_parts(story, first) {
  const [name, ...lines] = story.split('\n');
  const conclusions = lines.filter((line) => line.startsWith('- '));
  const step_lines = lines.filter((line) => !line.startsWith('- ') && line.trim() !== '');
  const steps = step_lines.map(step_of);
  const width = (column) => steps.reduce((most, step) => Math.max(most, step ? step[column].length : 0), 0);
  const [time, rank, actor] = ['time', 'rank', 'actor'].map(width);
  const own = steps.find((step) => step?.actor === 'the message');
  return {
    name, conclusions, text_at: time + rank + actor + (actor > 0 ? 3 : 2),
    steps: steps.map((step, index) => (step ? [step.time.padStart(time), step.rank.padEnd(rank), ...(actor > 0 ? [step.actor.padEnd(actor)] : []), step.text].join(' ')
      : step_lines[index].trim())),
    origin: own ? first - Math.round(1e3 * Number(own.time)) : NaN,
  };
}
