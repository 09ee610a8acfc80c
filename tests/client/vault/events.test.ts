import { afterEach, beforeEach, expect, test } from 'bun:test';
import { createClient, type EventToken, type VaultEvent } from '../../../client/vault/index.ts';
import { faultyFetch } from '../../support/client-world.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

let t: TestVault;
let line: ReturnType<typeof faultyFetch>;
let end: AbortController;
beforeEach(async () => {
  t = await startVault({ MAX_VERIFY_SENDS_PER_IP: '1000' });
  line = faultyFetch();
  end = new AbortController();
});
afterEach(async () => {
  end.abort();
  await t.stop();
});

const operatorSecret = VAULT_SECRET.replace('00', 'ff');
const client = () => createClient({ url: t.url, operatorSecret, fetch: line.fetch, storage: null });
const mint = async () => (await client().call('POST /v1/console/token', { app: 'default' })).token;
let people = 0;
/** Makes an event, `code.sent`. */
const send = () => client().verify.send({ identifier: `reader${++people}@example.com`, channel: 'email' });

/** Reads so many events of a type. */
async function read(count: number, token: EventToken, after: number | string = 0): Promise<readonly VaultEvent[]> {
  const read: VaultEvent[] = [];
  for await (const event of client().events(token, { after, signal: end.signal, channel: 'audit' })) {
    if (event.type === 'code.sent') read.push(event);
    if (read.length === count) return read;
  }
  return read;
}

test('events come as they happen, the stored ones first', async () => {
  await send();
  const reading = read(2, await mint());
  await send();
  const [first, second] = await reading;
  expect([first?.type, second?.channel, Number(second?.id) > Number(first?.id)]).toEqual(['code.sent', 'audit', true]);
});

test('a connection that breaks is opened again behind the last event', async () => {
  await send();
  await send();
  await send();
  let opened = 0;
  line.trouble = async (request, pass) => {
    const response = await pass();
    if (!request.url.includes('/events') || opened++ > 0) return response;
    // The first connection ends behind its first whole event.
    const text = new TextDecoderStream();
    const cut = new TransformStream<string, string>({
      transform(part, controller) {
        const stop = part.indexOf('\n\n', part.indexOf('event: code.sent')) + 2;
        controller.enqueue(part.slice(0, part.includes('event: code.sent') ? stop : undefined));
        if (part.includes('event: code.sent')) controller.terminate();
      },
    });
    const body = response.body
      ?.pipeThrough(text as never)
      .pipeThrough(cut)
      .pipeThrough(new TextEncoderStream());
    return new Response(body as never, { status: 200 });
  };
  const events = await read(3, await mint());
  expect(new Set(events.map(({ id }) => id)).size).toBe(3);
  expect(opened).toBe(2);
});

test('a token that has no right is refused, and a revoked one ends the stream', async () => {
  const refused = read(1, 'nonsense').catch((error) => error);
  expect(await refused).toMatchObject({ error: 'token_invalid', status: 401 });
  const { token, cid } = await client().call('POST /v1/console/token', { app: 'default' });
  const ended = read(1, token).catch((error) => error);
  await client().call('POST /v1/console/revoke', { cid });
  expect(await ended).toMatchObject({ error: 'token_revoked' });
});

test('where a token has ended the next one is fetched, and nothing is missed', async () => {
  let minted = 0;
  const next = async () => {
    minted++;
    return mint();
  };
  await send();
  const reading = read(2, next);
  await Bun.sleep(100);
  await t.clock.advance(301_000);
  await send();
  expect((await reading).length).toBe(2);
  expect(minted).toBe(2);
});
