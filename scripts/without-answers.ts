/**
 * Leaves `routes/answers/` out of what is built: the schemas of answers are for the document, the types and the tests.
 * Rows name them, and no request looks at them.
 */
export const withoutAnswers: Bun.BunPlugin = {
  name: 'leave the schemas of answers out',
  setup(build) {
    build.onLoad({ filter: /routes[\\/]answers[\\/][\w-]+\.ts$/ }, async ({ path }) => {
      const names = Object.keys(await import(path));
      return { contents: names.map((name) => `export const ${name} = undefined;`).join('\n'), loader: 'js' };
    });
  },
};
