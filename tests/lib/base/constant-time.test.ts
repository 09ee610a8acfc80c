import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../../..');
/** A comparison of what only its owner knows, or of a digest or a MAC of it, with anything but its absence. */
const TELLING = /\b\w*(?:[dD]igest|[mM]ac|[sS]ignature|[sS]ecret|guessed)\b\s*[!=]==?\s*(?!undefined\b|null\b)\w+/g;

test('digests, MACs, signatures and secrets are compared in constant time, by equalBytes and equalText', () => {
  const found = ['lib', 'routes'].flatMap((folder) =>
    [...new Bun.Glob(`${folder}/**/*.ts`).scanSync({ cwd: ROOT })].flatMap((file) =>
      Array.from(readFileSync(join(ROOT, file), 'utf8').matchAll(TELLING), ([text]) => `${file}: ${text}`),
    ),
  );
  expect(found).toEqual([]);
});
