import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { startForwarder } from '../support/forwarder.ts';
import { ZERO } from '../support/registries.ts';
import { errorOf, pkh, RESULT, resolve, startDidWorld } from '../support/resolution.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// The evidence chapter, part A, rules 1, 2 and 10 to 12: the HTTP binding of DID Resolution 1.0.

const world = await startDidWorld();
const [node, second] = [startForwarder(world.url), startForwarder(world.url)];
afterAll(async () => {
  await Promise.all([node.stop(), second.stop()]);
  await world.stop();
});

let t: TestVault;
beforeEach(async () => {
  node.trouble = undefined;
  second.trouble = undefined;
  t = await startVault({ ...world.vars, RPC_URL: node.url });
});
afterEach(() => t.stop());

const ada = await world.person();
const did = pkh(ada.address);
const webDid = () => `did:web:localhost%3A${new URL(t.url).port}`;

describe('evidence A1: the path is decoded once at most', () => {
  test('a did:web has percent signs of its own', async () => {
    const own = webDid();
    expect((await resolve(t, own)).body.didDocument.id).toBe(own);
    expect((await resolve(t, encodeURIComponent(own))).body.didDocument.id).toBe(own);
    for (const other of [own.replace('%3A', '%253A'), own.replace('%3A', ':')])
      expect([other, errorOf(await resolve(t, other))]).toEqual([other, 'FEATURE_NOT_SUPPORTED']);
    expect(errorOf(await resolve(t, encodeURIComponent(encodeURIComponent(own))))).toBe('INVALID_DID');
  });

  test('a did:pkh is found as it is and encoded', async () => {
    for (const path of [did, encodeURIComponent(did)]) expect((await resolve(t, path)).body.didDocument.id).toBe(did);
  });
});

describe('evidence A2: which DIDs', () => {
  const digits = '0x'.padEnd(42, 'a');
  test.each([
    ['no DID', 'nonsense', 400, 'INVALID_DID'],
    ['no DID, with a broken escape', 'x%zz', 400, 'INVALID_DID'],
    ['a DID without an identifier', 'did:pkh:', 400, 'INVALID_DID'],
    ['capitals in the method', 'did:PKH:eip155:84532:0x00', 400, 'INVALID_DID'],
    ['a DID URL with a path', `did:pkh:eip155:84532:${digits}/path`, 400, 'INVALID_DID'],
    ['a DID URL with a fragment', encodeURIComponent(`did:pkh:eip155:84532:${digits}#key`), 400, 'INVALID_DID'],
    ['a DID URL with a query', encodeURIComponent(`did:pkh:eip155:84532:${digits}?x=1`), 400, 'INVALID_DID'],
    ['a text that is too long', `did:pkh:${'a'.repeat(2048)}`, 400, 'INVALID_DID'],
    ['another method', 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK', 501, 'METHOD_NOT_SUPPORTED'],
    ['another chain', `did:pkh:eip155:1:${digits}`, 501, 'FEATURE_NOT_SUPPORTED'],
    ['another network of did:hyper', `did:hyper:base:${digits}`, 501, 'FEATURE_NOT_SUPPORTED'],
    ['another namespace of did:pkh', 'did:pkh:solana:4sGjMW1s:CKg5d12J', 501, 'FEATURE_NOT_SUPPORTED'],
    ['a label', 'did:hyper:ada', 501, 'FEATURE_NOT_SUPPORTED'],
    ['another did:web', 'did:web:example.com', 501, 'FEATURE_NOT_SUPPORTED'],
  ])('%s is refused, and asks nothing', async (_, asked, status, type) => {
    const before = node.methods.length;
    const answer = await resolve(t, asked);
    expect([answer.status, errorOf(answer)]).toEqual([status, type]);
    expect(node.methods.length).toBe(before);
  });

  test('the vault’s own did:web is the document of did.json, without versions', async () => {
    const { body } = await t.call('GET /.well-known/did.json');
    expect((await resolve(t, webDid(), { accept: null })).body).toEqual(body);
    expect(errorOf(await resolve(t, webDid(), { query: '?versionId=1' }))).toBe('FEATURE_NOT_SUPPORTED');
    const elsewhere = await startVault({ ...world.vars, REGISTRAR_DID: 'did:web:elsewhere.example' });
    expect(errorOf(await resolve(elsewhere, 'did:web:elsewhere.example'))).toBe('FEATURE_NOT_SUPPORTED');
    await elsewhere.stop();
  });

  test('without a registry no account is resolved', async () => {
    const own = await startVault({ ...world.vars, DID_REGISTRY_ADDRESS: 'none' });
    expect(errorOf(await resolve(own, did))).toBe('FEATURE_NOT_SUPPORTED');
    await own.stop();
  });
});

describe('evidence A10: the form', () => {
  const ld = 'application/ld+json;profile="https://w3id.org/did-resolution"';
  test.each([
    [null, 'application/did'],
    ['*/*', 'application/did'],
    ['application/*', 'application/did'],
    ['application/did', 'application/did'],
    ['application/did+json', 'application/did+json'],
    ['application/did+ld+json', 'application/did+ld+json'],
    ['APPLICATION/JSON; charset=utf-8', 'application/json'],
    [RESULT, RESULT],
    [ld, RESULT],
    ['text/html, application/did;q=0.5, application/json;q=0.9', 'application/json'],
    ['application/json, application/did-resolution', 'application/json'],
    ['application/did;q=0, */*;q=0.1', 'application/did+json'],
    [`application/json;q=0.2,${ld};q=0.3`, RESULT],
  ])('Accept: %s is answered as %s', async (accept, type) => {
    const answer = await resolve(t, did, { accept });
    expect([answer.status, answer.type, answer.headers.get('vary')]).toEqual([200, type, 'accept']);
    const document = type === RESULT ? answer.body.didDocument : answer.body;
    expect(document.id).toBe(did);
    if (type === RESULT) expect(answer.body.didResolutionMetadata).toEqual({ contentType: 'application/did' });
  });

  test.each(['text/html', 'application/did;q=0', 'application/ld+json', 'application/cbor'])(
    'Accept: %s is 406, as a result',
    async (accept) => {
      const answer = await resolve(t, did, { accept });
      expect([answer.status, answer.type]).toEqual([406, RESULT]);
      expect(errorOf(answer)).toBe('REPRESENTATION_NOT_SUPPORTED');
    },
  );
});

describe('evidence A11: errors', () => {
  test('have the form of the standard, and are not kept', async () => {
    const { status, type, headers, body } = await resolve(t, 'did:key:z6Mk', { accept: 'application/did' });
    expect([status, type, headers.get('cache-control')]).toEqual([501, RESULT, 'no-store']);
    expect(body).toEqual({
      didResolutionMetadata: {
        error: {
          type: 'https://www.w3.org/ns/did#METHOD_NOT_SUPPORTED',
          title: 'Method not supported',
          detail: expect.any(String),
        },
      },
      didDocument: null,
      didDocumentMetadata: {},
    });
  });

  test('two nodes that disagree are no answer', async () => {
    const own = await startVault({ ...world.vars, RPC_URL: node.url, RPC_WITNESS_URL: second.url });
    expect((await resolve(own, did)).status).toBe(200);
    // The second node tells that somebody else controls the DID.
    second.trouble = async (forward, _, body) => {
      const asked = [JSON.parse(body)].flat() as { id: number; method: string; params: { data?: string }[] }[];
      const told = [(await (await forward()).json()) as { id: number; result: string }].flat();
      const lie = `0x${'11'.padStart(64, '0')}${'1'.padStart(64, '0').repeat(2)}${'a0'.padStart(64, '0')}`;
      const isLie = (id: number) => asked.find((one) => one.id === id)?.params[0]?.data?.startsWith('0x5c23bdf5');
      const entry = `${lie}${'1'.padStart(64, '0')}${'0'.repeat(64)}`;
      const answers = told.map((one) => (isLie(one.id) ? { ...one, result: entry } : one));
      return Response.json(Array.isArray(JSON.parse(body)) ? answers : answers[0]);
    };
    const person = await world.person();
    await world.registry.act(person, 'registerSelf', ZERO, '');
    const answer = await resolve(own, pkh(person.address));
    expect([answer.status, errorOf(answer), answer.headers.get('cache-control')]).toEqual([
      500,
      'INTERNAL_ERROR',
      'no-store',
    ]);
    await own.stop();
  });

  test('a node that does not answer is INTERNAL_ERROR', async () => {
    node.trouble = () => new Response('busy', { status: 503 });
    const answer = await resolve(t, did);
    expect([answer.status, errorOf(answer)]).toEqual([500, 'INTERNAL_ERROR']);
    expect(t.entries.some(({ event }) => event === 'did_not_resolved')).toBe(true);
  });
});

describe('evidence A12: caches and the metric', () => {
  test('the newest state is kept for ten seconds, that of a final block for good', async () => {
    const account = await world.account();
    await account.create();
    const at = await world.height();
    await world.mine(2);
    const cacheOf = async (query = '') =>
      (await resolve(t, pkh(account.address), { query })).headers.get('cache-control');
    expect(await cacheOf()).toBe('public, max-age=10');
    expect(await cacheOf(`?versionId=${at}`)).toBe('public, max-age=86400, immutable');
    expect(await cacheOf(`?versionId=${at + 2}`)).toBe('public, max-age=10');
  });

  test('of an account without code no state is kept for good: its key is known from records, which may change', async () => {
    const [made, bare] = [await world.account(), await world.account()];
    await made.create();
    const query = `?versionId=${await world.height()}`;
    await world.mine(2);
    const cacheOf = async ({ address }: typeof made) =>
      (await resolve(t, pkh(address), { query })).headers.get('cache-control');
    expect(await cacheOf(made)).toBe('public, max-age=86400, immutable');
    expect(await cacheOf(bare)).toBe('public, max-age=10');
  });

  test('the tag is that of the document, whichever the block and the form', async () => {
    const tagOf = async (accept: string) => (await resolve(t, did, { accept })).headers.get('etag');
    const tag = await tagOf('application/did');
    await world.mine();
    expect([tag?.length, await tagOf('application/json'), await tagOf(RESULT)]).toEqual([24, tag, `W/${tag}`]);
  });

  test('resolutions are counted by method and outcome', async () => {
    await resolve(t, did);
    await resolve(t, 'did:web:example.com');
    await resolve(t, 'nonsense');
    const { text } = await t.call('GET /metrics');
    expect(text).toContain('vault_did_resolutions_total{method="pkh",outcome="resolved"} 1');
    expect(text).toContain('vault_did_resolutions_total{method="web",outcome="feature_not_supported"} 1');
    expect(text).toContain('vault_did_resolutions_total{method="other",outcome="invalid_did"} 1');
  });

  test('nobody learns who asked about whom: no event, no row, and no DID in the metric or the log', async () => {
    const log = () => JSON.stringify(t.entries.map(({ path: _, ...entry }) => entry));
    await resolve(t, did);
    await resolve(t, did, { accept: RESULT });
    await t.work();
    expect(await t.rows('SELECT type FROM events')).toEqual([]);
    const { text } = await t.call('GET /metrics');
    for (const said of [text, log()]) expect(said.toLowerCase()).not.toContain(ada.address.toLowerCase());
  });
});
