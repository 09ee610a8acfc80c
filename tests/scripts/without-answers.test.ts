import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { withoutAnswers } from '../../scripts/without-answers.ts';

const ROOT = join(import.meta.dir, '../..');
/** What only the schema of an answer says. */
const SENTENCE = 'Your address as the vault sees it';

async function bundle(plugins: Bun.BunPlugin[]): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(ROOT, 'routes/console/overview.ts')],
    target: 'bun',
    packages: 'external',
    plugins,
  });
  return (await outputs[0]?.text()) ?? '';
}

test('what is built of a route has no schema of its answers', async () => {
  const [whole, built] = await Promise.all([bundle([]), bundle([withoutAnswers])]);
  expect([whole.includes(SENTENCE), built.includes(SENTENCE)]).toEqual([true, false]);
  expect(built).toContain('/v1/console/overview');
});
