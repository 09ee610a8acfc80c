import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { isAlive } from '../../../scripts/alive.ts';
import { chromium } from '../../../scripts/dev-stack/chromium.ts';
import { until } from '../../support/until.ts';

const BROWSER = join(import.meta.dir, '../../../scripts/dev-stack/browser.ts');
const STARTER = `
  import { startShell } from '${BROWSER}';
  const { browser } = await startShell();
  const session = await browser.target().createCDPSession();
  // Where Debian's script starts it, it is another process than Puppeteer's.
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  console.log(processInfo.find(({ type }) => type === 'browser').id);
  setInterval(() => {}, 1_000);
`;

test.skipIf(!chromium)('a browser ends with the program that started it, also where that is killed', async () => {
  const starter = Bun.spawn([process.execPath, '-e', STARTER], { stdin: 'ignore', stdout: 'pipe' });
  const { value } = await starter.stdout.getReader().read();
  const pid = Number(new TextDecoder().decode(value));
  expect(isAlive(pid)).toBe(true);
  starter.kill('SIGKILL');
  await until('the browser ends', () => !isAlive(pid));
});
