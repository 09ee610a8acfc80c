// Preloaded by `bun test` (bunfig.toml): what every test file does in front of its first line. Its random values are
// those of SEED and its path (`seeded-preload.ts`). It fails at its end for answers that the description of the API has
// not (`answers-preload.ts`). Its tests and hooks get their time (`limits.ts`), and what waits in them ends before
// (TEST_WAIT_MS). Bun reads no timeout from bunfig.toml, and forgets what `setDefaultTimeout` said after each file
// (oven-sh/bun#43787).
import { relative } from 'node:path';
import { plugin } from 'bun';
import { limitOf } from './limits.ts';

const WAIT_MAX_MS = 300_000;
const TESTS = new URL('..', import.meta.url).pathname;
const HERE = new URL('.', import.meta.url).pathname;

const prefixOf = (path: string, limitMs: number): string =>
  [
    "import { setDefaultTimeout as limitTests, afterAll as endTests } from 'bun:test'",
    `import { expectDocumented } from '${HERE}answers-preload.ts'`,
    `import { seedFile } from '${HERE}seeded-preload.ts'`,
    `limitTests(${limitMs})`,
    `seedFile(${JSON.stringify(path)})`,
    'endTests(expectDocumented); ',
  ].join('; ');

plugin({
  name: 'each file',
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => {
      const limitMs = limitOf(relative(TESTS, path).slice(0, -'.test.ts'.length));
      process.env['TEST_WAIT_MS'] = String(Math.min(WAIT_MAX_MS, (limitMs * 3) / 4));
      return { contents: prefixOf(path, limitMs) + (await Bun.file(path).text()), loader: 'ts' };
    });
  },
});
