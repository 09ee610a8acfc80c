import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INVARIANTS } from '../support/torture/ledger.ts';
import { edited, PLANTS } from '../support/torture/plants.ts';

// `bun run torture --plant all` builds each and looks for it; here they only keep up with the sources.

const ROOT = join(import.meta.dir, '../..');

test('each invariant has a planted bug that violates it', () => {
  const violated = new Set(PLANTS.map(({ violates }) => violates));
  expect(INVARIANTS.filter((one) => !violated.has(one))).toEqual([]);
});

describe('a planted bug changes the sources as they are', () => {
  test.each(PLANTS.map((plant) => [plant.name, plant] as const))('%s', (_, { edits }) => {
    const texts = new Map<string, string>();
    for (const edit of edits) {
      const before = texts.get(edit.file) ?? readFileSync(join(ROOT, edit.file), 'utf8');
      texts.set(edit.file, edited(before, edit));
      expect(texts.get(edit.file)).not.toBe(before);
    }
  });
});
