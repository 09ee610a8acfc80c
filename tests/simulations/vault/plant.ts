import { join } from 'node:path';
import { plugin } from 'bun';
import { edited, type Plant } from '../../support/torture/plants.ts';

const ROOT = join(import.meta.dir, '../../..');

/** Puts a bug into the sources as this process loads them from now on. */
export function plantBug({ edits }: Plant): void {
  const files = new Set(edits.map(({ file }) => join(ROOT, file)));
  const filter = new RegExp(`^(?:${[...files].map((file) => file.replaceAll(/[.\\/]/g, '\\$&')).join('|')})$`);
  plugin({
    name: 'a planted bug',
    setup(build) {
      build.onLoad({ filter }, async ({ path }) => {
        const own = edits.filter(({ file }) => join(ROOT, file) === path);
        const text = await Bun.file(path).text();
        return { contents: own.reduce((planted, edit) => edited(planted, edit), text), loader: 'ts' };
      });
    },
  });
}
