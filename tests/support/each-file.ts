// Preloaded by `bun test` (bunfig.toml): what every test file does in front of its first line. Its random values are
// those of SEED and its path (`seeded-preload.ts`). It fails at its end for answers that the description of the API has
// not (`answers-preload.ts`). Its tests and hooks get three minutes, on a machine that has much else to do too; a
// limit is there to end what hangs. Bun reads no timeout from bunfig.toml, and forgets what `setDefaultTimeout` said
// after each file (oven-sh/bun#43787).
import { plugin } from 'bun';

const TIMEOUT_MS = 180_000;
const HERE = new URL('.', import.meta.url).pathname;

const prefixOf = (path: string): string =>
  [
    "import { setDefaultTimeout as limitTests, afterAll as endTests } from 'bun:test'",
    `import { expectDocumented } from '${HERE}answers-preload.ts'`,
    `import { seedFile } from '${HERE}seeded-preload.ts'`,
    `limitTests(${TIMEOUT_MS})`,
    `seedFile(${JSON.stringify(path)})`,
    'endTests(expectDocumented); ',
  ].join('; ');

plugin({
  name: 'each file',
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => ({
      contents: prefixOf(path) + (await Bun.file(path).text()),
      loader: 'ts',
    }));
  },
});
