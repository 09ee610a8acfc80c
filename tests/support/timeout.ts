// Preloaded by `bun test` (bunfig.toml): gives tests and hooks a minute and a half, on a machine that has much else to
// do too; a limit is there to end what hangs. Bun reads no timeout from bunfig.toml, and forgets what
// `setDefaultTimeout` said after each file (oven-sh/bun#43787), so every test file says it itself, in front of its
// first line.
import { plugin } from 'bun';

const TIMEOUT_MS = 90_000;
const PREFIX = `import { setDefaultTimeout as limitTests } from 'bun:test'; limitTests(${TIMEOUT_MS}); `;

plugin({
  name: 'timeout',
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => ({
      contents: PREFIX + (await Bun.file(path).text()),
      loader: 'ts',
    }));
  },
});
