// Preloaded by `bun test` (bunfig.toml): gives tests and hooks half a minute. Bun reads no timeout from bunfig.toml,
// and
// forgets what `setDefaultTimeout` said after each file (oven-sh/bun#43787), so every test file says it itself, in
// front
// of its first line.
import { plugin } from 'bun';

const TIMEOUT_MS = 30_000;
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
