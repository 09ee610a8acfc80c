import { expect, test } from 'bun:test';
import { tableFile } from '../../../routes/http/table-file.ts';

const STEPS = 1_000;

/** Steps of one row each, and how many of them were read. */
function counted(rows = 1) {
  const seen = { read: 0, ended: false };
  async function* steps() {
    try {
      for (; seen.read < STEPS; ) {
        seen.read++;
        yield Array.from({ length: rows }, () => ({ n: seen.read }));
      }
    } finally {
      seen.ended = true;
    }
  }
  return { seen, steps: steps() };
}

const open = (steps: AsyncGenerator<readonly object[]>, next: string | null = null) =>
  tableFile({ name: 'rows', format: 'jsonl', columns: ['n'], steps, next });

test('a file reads no step before its caller takes the one before, and none after it is left', async () => {
  const { seen, steps } = counted();
  const reader = (open(steps).body as ReadableStream<Uint8Array>).getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('{"n":1}\n');
  expect(seen.read).toBeLessThan(4);
  await reader.cancel();
  const read = seen.read;
  expect(seen.ended).toBeTrue();
  expect((await reader.read()).done).toBeTrue();
  expect(seen.read).toBe(read);
});

test('a file of many empty steps ends, and names the one that follows', async () => {
  const { seen, steps } = counted(0);
  const { body, headers } = open(steps, '/rows?cursor=1');
  expect(await new Response(body).text()).toBe('');
  expect(seen).toEqual({ read: STEPS, ended: true });
  expect(headers['link']).toBe('</rows?cursor=1>; rel="next"');
});
