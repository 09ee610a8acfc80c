// Loaded before a program (`BUN_OPTIONS=--preload …`): every name that it resolves leads to this machine, as a name
// server of a stranger's could have it. Nothing else of its connections is replaced.

const ASKED = "await import('node:dns/promises')";

Bun.plugin({
  name: 'names of this machine',
  setup(build) {
    build.onLoad({ filter: /\/commands\/serve\/webhook-fetch\.ts$/ }, async ({ path }) => {
      const [before, after, ...more] = (await Bun.file(path).text()).split(ASKED);
      if (after === undefined || more.length > 0) throw new Error(`${path} resolves names in another way now`);
      return { contents: `${before}{ lookup: async () => [{ address: '127.0.0.1' }] }${after}`, loader: 'ts' };
    });
  },
});
