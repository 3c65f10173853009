// A picture of a page: node test/picture.js PAGE.html PICTURE.png [--width W] [--height H] [--message SOURCE>DESTINATION#N | longest-walk]
//   [--tab "Critical path"] [--collective MPI_Bcast] [--from US --to US] [--dark] [--only SELECTOR]
// Written for scripts/gallery. CHROMIUM=PATH another browser.
import { parseArgs } from 'node:util';
import { start_browser } from './page/browser.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    width: { type: 'string', default: '1400' }, height: { type: 'string', default: '900' }, message: { type: 'string' },
    tab: { type: 'string' }, collective: { type: 'string' }, from: { type: 'string' }, to: { type: 'string' },
    dark: { type: 'boolean', default: false }, only: { type: 'string' },
  },
});
const [source, target] = positionals;
if (!source || !target) throw new Error('node test/picture.js PAGE.html PICTURE.png [options]');

const chromium = await start_browser();
try {
  const page = await chromium.open(source, {
    viewport: { width: Number(values.width), height: Number(values.height) },
    colorScheme: values.dark ? 'dark' : 'light',
  });
  await page.evaluate(({ message, collective, tab, from, to }) => {
    const { margay } = window;
    if (message === 'longest-walk') {
      const { walked } = margay.trace.messages;
      margay.select(walked.indexOf(walked.reduce((most, one) => Math.max(most, one), 0)));
    } else if (message !== undefined) {
      const [, sender, receiver, number] = /^(\d+)>(\d+)#(\d+)$/.exec(message);
      const { messages } = margay.trace;
      const row = messages.source.findIndex((_, i) => messages.source[i] === Number(sender)
        && messages.destination[i] === Number(receiver) && messages.sequence[i] === Number(number));
      if (row < 0) throw new Error(`no message ${message}`);
      margay.select(row);
    }
    if (collective !== undefined) {
      const { collectives } = margay.trace;
      margay.select_collective(collectives.name.findIndex((name) => margay.trace.text(name) === collective));
    }
    if (tab !== undefined) margay.show(tab);
    if (from !== undefined) margay.zoom(Number(from) * 1000, Number(to) * 1000);
    margay.draw();
  }, values);
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 300); }));  // stories are unpacked meanwhile
  if (page.errors.length > 0) throw new Error(page.errors.join('\n'));
  await (values.only ? page.locator(values.only).first() : page).screenshot({ path: target });
} finally {
  await chromium.close();
}
