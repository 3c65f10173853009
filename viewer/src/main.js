// The entry point: reads the data and builds the page.
import { page_data } from './data/page_data.js';
import { network_reader } from './data/network.js';
import { story_reader } from './data/stories.js';
import { read_trace } from './data/trace.js';
import { Page } from './page.js';
import { h } from './views/dom.js';

async function start() {
  const app = document.getElementById('app');
  try {
    const { head, blob, blob_once } = page_data(document);
    document.title = `${head.title ?? 'trace'} – margay`;
    const trace = await read_trace(head, blob_once);
    const page = new Page(trace, story_reader(trace.stories, blob), network_reader(head.network, blob));
    app.replaceChildren(...page.elements);
    page.start();
    window.margay = page.for_tests();
    document.documentElement.dataset.ready = 'true';
    performance.mark('ready');
  } catch (error) {
    app.replaceChildren(h('p', { class: 'failure', role: 'alert' }, error.message));
    document.documentElement.dataset.ready = 'failed';
    throw error;
  }
}

start();
