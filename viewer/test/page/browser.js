// A headless Chromium from Debian, and pages in it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { synthesize, write_page } from '../synthesize.js';

const kReadyMs = 60000;  // a guard, not a tested limit

/** A browser with a folder for pages; `close` ends both. */
export async function start_browser() {
  const folder = mkdtempSync(join(tmpdir(), 'margay-viewer-'));
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  return {
    browser,
    /** The path of a page with these data. */
    write(name, data) {
      const path = join(folder, `${name}.html`);
      write_page(path, data);
      return path;
    },
    /** Opens a page that `write` has written and waits until it is ready (or 'failed'). Errors of its script are kept in `errors`. */
    async open(path, { ready = 'true', ...options } = {}) {
      const page = await browser.newPage({ viewport: { width: 1400, height: 1000 }, ...options });
      page.errors = [];
      page.on('pageerror', (error) => page.errors.push(error.message));
      page.on('request', (request) => { if (!request.url().startsWith('file:') && !request.url().startsWith('data:')) page.errors.push(`asked for ${request.url()}`); });
      await page.goto(pathToFileURL(path).href);
      await page.waitForSelector(`html[data-ready="${ready}"]`, { state: 'attached', timeout: kReadyMs });
      return page;
    },
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Waits until `condition` holds in the page. (Playwright's own waitForFunction needs eval, which the page's policy forbids.)
 * @param {(argument: any) => boolean} condition runs in the page
 */
export async function until(page, condition, argument) {
  const end = Date.now() + kReadyMs;
  while (!(await page.evaluate(condition, argument))) {
    if (Date.now() > end) throw new Error(`never came: ${condition}`);
    await new Promise((resolve) => { setTimeout(resolve, 20); });
  }
}

export { synthesize };
