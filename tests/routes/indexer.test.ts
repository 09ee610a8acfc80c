import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { DAY_MS } from '../../lib/base/clock.ts';
import { UPSTREAM_TIMEOUT_MS } from '../../lib/constants.ts';
import { aliasHash, didHash } from '../../lib/identity/did.ts';
import { FOLLOWER_BEHIND_BLOCKS, FOLLOWER_SILENT_MS } from '../../lib/indexer/queries.ts';
import { compileContracts } from '../../scripts/contracts.ts';
import { create2 } from '../../scripts/dev-stack/create2.ts';
import { answerFault, FAULTS } from '../../scripts/dev-stack/fault.ts';
import { type Acted, type Actors, prepareActors } from '../support/actors.ts';
import { temporaryFolder } from '../support/databases.ts';
import { startTestChain, type TestChain } from '../support/onchain.ts';
import { expectHoldsNone } from '../support/secrecy.ts';
import { staysPending } from '../support/under-way.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const KEY = 'upstream-key';
const UNKNOWN = `0x${'0'.repeat(63)}1`;
const many = { RATE_LIMIT_PROXY_PER_IP: '100000' };

let chain: TestChain;
let actors: Actors;
/** The vault that follows, and one that asks it. */
let own: TestVault;
let proxy: TestVault;
let active: Acted;
let ended: Acted;
let account: Awaited<ReturnType<Actors['createAccount']>>;

beforeAll(async () => {
  chain = await startTestChain();
  actors = await prepareActors(chain, 5);
  own = await startVault({ ...actors.vars, ...many });
  proxy = await startVault({ ...chain.vars, ...many, INDEXER_URL: `${own.url}/api/indexer/` }, { clock: own.clock });
  [active, ended] = [await actors.register('alice'), await actors.register('bob')];
  await actors.update(active, 'ipfs://bafy');
  await actors.deactivate(ended);
  account = await actors.createAccount();
  await own.work();
});
afterAll(async () => {
  await Promise.all([proxy.stop(), own.stop(), chain.stop()]);
});

/** What both modes answer, which must be the same. */
async function ask(path: string, query: Readonly<Record<string, string>> = {}) {
  const [first, second] = [
    await own.call(`GET /api/indexer/${path}`, query),
    await proxy.call(`GET /api/indexer/${path}`, query),
  ];
  expect([second.status, second.body]).toEqual([first.status, first.body]);
  return { status: first.status, body: first.body };
}

const eventOf = async (kind: string, subject: string) =>
  (await actors.events()).find((event) => event['kind'] === kind && event['subject'] === subject) ?? {};

describe('§4 indexer: own follower and proxy answer the same', () => {
  test('aliases?hash=: the DID that an alias leads to', async () => {
    const hash = aliasHash('alice');
    expect(await ask('aliases', { hash })).toEqual({
      status: 200,
      body: {
        found: true,
        alias_hash: hash,
        did_hash: didHash(active.did),
        active: true,
        controller: active.controller.toLowerCase(),
      },
    });
    expect((await ask('aliases', { hash: aliasHash('bob') })).body).toMatchObject({ found: true, active: false });
  });

  test('dids?hash=: the DID as registered, with its newest metadata', async () => {
    const hash = didHash(active.did);
    const { block, tx_hash } = await eventOf('DIDRegistered', hash);
    expect(await ask('dids', { hash })).toEqual({
      status: 200,
      body: {
        found: true,
        did_hash: hash,
        controller: active.controller.toLowerCase(),
        metadata_cid: 'ipfs://bafy',
        active: true,
        block_number: String(block),
        tx_hash,
      },
    });
    const { body } = await ask('dids', { hash: didHash(ended.did) });
    expect(body).toMatchObject({ found: true, active: false, metadata_cid: '' });
  });

  test('accounts?address=: an account of the factory, and the hash of its key', async () => {
    const { block, tx_hash } = await eventOf('AccountCreated', account.account);
    const answer = {
      status: 200,
      body: {
        found: true,
        account_address: account.account,
        owner_address: account.owner,
        block_number: String(block),
        tx_hash,
      },
    };
    expect(await ask('accounts', { address: account.account })).toEqual(answer);
    expect(await ask('accounts', { address: `0x${account.account.slice(2).toUpperCase()}` })).toEqual(answer);
  });

  test('what is not there is 200 with found false', async () => {
    const missing = { status: 200, body: { found: false } };
    expect(await ask('aliases', { hash: UNKNOWN })).toEqual(missing);
    expect(await ask('dids', { hash: aliasHash('alice') })).toEqual(missing);
    expect(await ask('aliases', { hash: didHash(active.did) })).toEqual(missing);
    expect(await ask('accounts', { address: active.controller })).toEqual(missing);
  });

  test('stats: totals, and the last block read', async () => {
    expect(await ask('stats')).toEqual({
      status: 200,
      body: {
        total_dids: 2,
        active_dids: 1,
        total_aliases: 2,
        total_accounts: 1,
        last_block_number: String(Number(await chain.rpc('eth_blockNumber'))),
      },
    });
  });

  test('health: the chain as a number', async () => {
    expect(await ask('health')).toEqual({ status: 200, body: { ok: true, chain: 84532 } });
  });
});

describe('health of the own follower', () => {
  test('is not ok before the first look, once nobody looks any more, and far behind', async () => {
    const t = await startVault(actors.vars);
    const isOk = async () => (await t.call('GET /api/indexer/health')).body.ok as boolean;
    expect(await isOk()).toBe(false);
    await t.work();
    await t.clock.advance(FOLLOWER_SILENT_MS - 1);
    expect(await isOk()).toBe(true);
    await t.clock.advance(1);
    expect(await isOk()).toBe(false);
    await t.work();
    expect(await isOk()).toBe(true);
    const setHead = (lag: number) => t.rows('UPDATE follower SET head = block + :lag', { lag });
    await setHead(FOLLOWER_BEHIND_BLOCKS);
    expect(await isOk()).toBe(true);
    await setHead(FOLLOWER_BEHIND_BLOCKS + 1);
    expect(await isOk()).toBe(false);
    await t.stop();
  });

  test('/readyz tells block and lag, and an unreachable chain makes nothing unready', async () => {
    const block = Number(await chain.rpc('eth_blockNumber'));
    const ready = await own.call('GET /readyz');
    expect([ready.status, ready.body]).toEqual([200, { ok: true, database: 'writable', follower: { block, lag: 0 } }]);
    const cut = await startVault({ ...actors.vars, RPC_URL: 'http://127.0.0.1:1' });
    await cut.work();
    const alone = await cut.call('GET /readyz');
    expect([alone.status, alone.body]).toEqual([200, { ok: true, database: 'writable' }]);
    await cut.stop();
  });

  test('W5: before its first pass the contracts answer, and what they cannot tell is 503 indexer_behind', async () => {
    const t = await startVault(actors.vars);
    expect((await t.call('GET /api/indexer/dids', { hash: UNKNOWN })).body).toEqual({ found: false });
    const alias = await t.call('GET /api/indexer/aliases', { hash: aliasHash('alice') });
    expect(alias.body).toMatchObject({ found: true, did_hash: didHash(active.did) });
    const stats = await t.call('GET /api/indexer/stats');
    expect([stats.status, stats.body.error, stats.headers.get('retry-after')]).toEqual([503, 'indexer_behind', '10']);
    await t.work();
    expect((await t.call('GET /api/indexer/stats')).body).toMatchObject({ total_dids: 2 });
    // Behind by more than a first pass leaves: the same again.
    await t.rows('UPDATE follower SET head = block + :lag', { lag: FOLLOWER_BEHIND_BLOCKS + 1 });
    expect((await t.call('GET /api/indexer/stats')).status).toBe(503);
    await t.stop();
  });

  test('one that is a little behind is believed for what it has; the contracts are asked about the rest', async () => {
    const t = await startVault(actors.vars);
    await t.work();
    await t.rows('UPDATE follower SET head = block + 1');
    const known = await t.call('GET /api/indexer/dids', { hash: didHash(active.did) });
    expect(known.body).toMatchObject({ found: true, tx_hash: expect.stringMatching(/^0x/) });
    await t.rows(`DELETE FROM chain_events WHERE subject = '${didHash(active.did)}'`);
    const missing = await t.call('GET /api/indexer/dids', { hash: didHash(active.did) });
    expect(missing.body).toEqual({ ...known.body, block_number: undefined, tx_hash: undefined });
    await t.stop();
  });

  test('a start after registrations leaves nothing below zero, and an alias without its DID has no controller', async () => {
    const [alias] = (await actors.events()).filter(({ kind }) => kind === 'AliasRegistered');
    const t = await startVault({ ...actors.vars, FOLLOWER_START_BLOCK: String(Number(alias?.['block']) + 2) });
    await t.work();
    expect((await t.call('GET /api/indexer/stats')).body).toMatchObject({ total_dids: 0, active_dids: 0 });
    await t.rows(
      `INSERT INTO chain_events VALUES (1, 0, '0x', '0x', 'AliasRegistered', '${UNKNOWN}', '${UNKNOWN}', NULL)`,
    );
    expect((await t.call('GET /api/indexer/aliases', { hash: UNKNOWN })).body).toEqual({
      found: true,
      alias_hash: UNKNOWN,
      did_hash: UNKNOWN,
      active: false,
      controller: null,
    });
    await t.stop();
  });
});

describe('W5: without a follower and an INDEXER_URL', () => {
  let t: TestVault;
  const start = async (vars: Record<string, string> = {}) => {
    t = await startVault({ ...actors.vars, ...many, FOLLOWER: 'false', ...vars });
  };
  afterEach(() => t.stop());
  const get = async (path: string, query: Record<string, string> = {}) => {
    const { status, body } = await t.call(`GET /api/indexer/${path}`, query);
    return { status, body };
  };
  const found = (body: object) => ({ status: 200, body: { found: true, ...body } });
  const missing = { status: 200, body: { found: false } };
  const notConfigured = { status: 503, body: { error: 'indexer_not_configured', hint: expect.any(String) } };

  test('aliases, dids and accounts are answered by the contracts, without a block', async () => {
    await start();
    const [of, controller] = [didHash(active.did), active.controller.toLowerCase()];
    const alias = { alias_hash: aliasHash('alice'), did_hash: of, active: true, controller };
    expect(await get('aliases', { hash: aliasHash('alice') })).toEqual(found(alias));
    expect((await get('aliases', { hash: aliasHash('bob') })).body).toMatchObject({ found: true, active: false });
    const did = { did_hash: of, controller, metadata_cid: 'ipfs://bafy', active: true };
    expect(await get('dids', { hash: of })).toEqual(found(did));
    expect((await get('dids', { hash: didHash(ended.did) })).body).toMatchObject({ found: true, active: false });
    const own = { account_address: account.account, owner_address: account.owner };
    expect(await get('accounts', { address: account.account })).toEqual(found(own));
    for (const path of ['aliases', 'dids']) expect(await get(path, { hash: UNKNOWN })).toEqual(missing);
    expect(await get('accounts', { address: active.controller })).toEqual(missing);
    expect(await get('accounts', { address: chain.registry })).toEqual(missing);
  });

  test('what they cannot tell is 503 indexer_not_configured, and health is not ok', async () => {
    await start();
    expect(await get('stats')).toEqual(notConfigured);
    expect(await get('health')).toEqual({ status: 200, body: { ok: false, chain: 84532 } });
    // It shows a key as an account does, and its address has another salt or another factory.
    const holder = await chain.deployHolder({ x: new Uint8Array(32).fill(1), y: new Uint8Array(32).fill(2) });
    expect(await get('accounts', { address: holder })).toEqual(notConfigured);
    await t.stop();
    await start({ DID_REGISTRY_ADDRESS: holder, HYPERAUTH_FACTORY_ADDRESS: 'none' });
    for (const path of ['aliases', 'dids']) expect(await get(path, { hash: UNKNOWN })).toEqual(notConfigured);
    expect(await get('accounts', { address: account.account })).toEqual(notConfigured);
    await t.stop();
    await start({ DID_REGISTRY_ADDRESS: 'none' });
    for (const path of ['aliases', 'dids']) expect(await get(path, { hash: UNKNOWN })).toEqual(notConfigured);
  });

  test('a registry without aliases(bytes32) tells whether an alias is free, and not whose it is', async () => {
    const { ResolvingRegistry } = await compileContracts();
    const registry = await create2(chain.rpc, ResolvingRegistry?.bytecode ?? '0x');
    await chain.register({ did: 'did:key:zErin', handle: 'erin' }, { registry });
    await start({ DID_REGISTRY_ADDRESS: registry });
    expect(await get('aliases', { hash: aliasHash('nobody') })).toEqual(missing);
    expect(await get('aliases', { hash: aliasHash('erin') })).toEqual(notConfigured);
    expect((await get('dids', { hash: didHash('did:key:zErin') })).body).toMatchObject({ found: true, active: true });
    expect(await get('dids', { hash: UNKNOWN })).toEqual(missing);
  });

  test('a node that cannot be asked is 502 rpc_error', async () => {
    await start({ RPC_URL: 'http://127.0.0.1:1' });
    const failed = { status: 502, body: { error: 'rpc_error' } };
    for (const path of ['aliases', 'dids']) expect(await get(path, { hash: UNKNOWN })).toEqual(failed);
    expect(await get('accounts', { address: account.account })).toEqual(failed);
    expect(await get('stats')).toEqual(notConfigured);
  });

  test('events that nobody reads any more are not believed', async () => {
    const dir = temporaryFolder();
    const first = await startVault(actors.vars, { dir: dir.path });
    await first.work();
    await first.stop();
    t = await startVault({ ...actors.vars, FOLLOWER: 'false' }, { dir: dir.path });
    // The row of another process that follows would do; this one is as old as its last poll.
    expect((await get('stats')).status).toBe(200);
    await t.clock.advance(FOLLOWER_SILENT_MS);
    expect(await get('stats')).toEqual(notConfigured);
    expect((await get('dids', { hash: didHash(active.did) })).body.block_number).toBeUndefined();
    await t.stop();
    dir.remove();
    await start();
  });
});

describe('parameters', () => {
  const hash = UNKNOWN;
  test.each([
    ['aliases', {}, 'Missing query parameters: hash'],
    ['dids', { hash: '' }, 'Missing query parameters: hash'],
    ['accounts', {}, 'Missing query parameters: address'],
    ['aliases', { hash: '0x12' }, 'Invalid hash: expected 32-byte hash'],
    ['aliases', { hash: hash.slice(2) }, 'Invalid hash: expected 32-byte hash'],
    ['dids', { hash: `${hash}00` }, 'Invalid hash: expected 32-byte hash'],
    ['dids', { hash: ` ${hash}` }, 'Invalid hash: expected 32-byte hash'],
    ['dids', { hash: `${hash.slice(0, -2)}/.` }, 'Invalid hash: expected 32-byte hash'],
    ['accounts', { address: hash }, 'Invalid address: expected 20-byte address'],
    ['accounts', { address: '0xzz' }, 'Invalid address: expected 20-byte address'],
  ])('%s with %o is 400', async (path, query, error) => {
    expect(await ask(path, query as Record<string, string>)).toEqual({ status: 400, body: { error } });
  });

  test('one given twice is 400', async () => {
    expect(await ask(`dids?hash=${hash}&hash=${hash}`)).toEqual({
      status: 400,
      body: { error: 'Duplicate query parameter: hash' },
    });
  });
});

describe('what is not on the list is 403 path_not_allowed', () => {
  const refused = { status: 403, body: { error: 'path_not_allowed' } };

  test.each(['dids', 'aliases'])('a parameter too many: %s', async (path) => {
    expect(await ask(`${path}?hash=${UNKNOWN}&limit=1`)).toEqual(refused);
    expect(await ask(`${path}?address=${UNKNOWN}`)).toEqual(refused);
    expect(await ask(`${path}?hash=${UNKNOWN}&__proto__=1`)).toEqual(refused);
    expect(await ask('stats?x=1')).toEqual(refused);
    expect(await ask('health?hash=1')).toEqual(refused);
  });

  // As bytes on the wire: a client's URL parser would tidy some of them.
  test.each([
    '/api/indexer/',
    '/api/indexer/graphql',
    '/api/indexer/Stats',
    '/api/indexer/stats/',
    '/api/indexer//stats',
    '/api/indexer/stats/..%2fadmin',
    '/api/indexer/a%2f..%2fb',
    '/api/indexer/%73tats',
    '/api/indexer/stats%00',
    '/api/indexer/stats%3fx=1',
    '/api/indexer/dids;hash=1',
    '/api/indexer/.stats',
    '/api/indexer/stats.json',
    '/api/indexer/...',
    '/api/indexer/http://127.0.0.1/stats',
    '/api/indexer/:path+',
    '/api/indexer/__proto__',
    `/api/indexer/dids/${UNKNOWN}`,
  ])('%s', async (path) => {
    for (const vault of [own, proxy]) expect(await raw(vault, path)).toEqual(refused);
  });

  test.each(['/api/indexer/../status', '/api/indexer/%2e%2e/status', '/api/indexer/./stats', '/api/indexer'])(
    'dots and a bare prefix lead nowhere new: %s',
    async (path) => {
      const { status } = await raw(proxy, path);
      expect([200, 403, 404]).toContain(status);
    },
  );
});

/** One request whose path is sent as it is. */
async function raw(vault: TestVault, path: string): Promise<{ status: number; body: unknown }> {
  const { hostname, port } = new URL(vault.url);
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('end', () => resolve(answer)).on('error', reject);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
  });
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) };
}

describe('an upstream', () => {
  let answer: (request: Request) => Response | Promise<Response>;
  let requests: string[];
  const upstream = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      requests.push(request.url.slice(request.url.indexOf('/', 8)));
      return answer(request);
    },
  });
  let t: TestVault;
  beforeAll(async () => {
    t = await startVault({ ...many, INDEXER_URL: `http://127.0.0.1:${upstream.port}/v1/${KEY}?token=${KEY}` });
  });
  beforeEach(() => {
    requests = [];
  });
  afterAll(async () => {
    await t.stop();
    await upstream.stop(true);
  });

  const did = {
    found: true,
    did_hash: UNKNOWN,
    controller: `0x${'ab'.repeat(20)}`,
    metadata_cid: '',
    active: true,
    block_number: '7',
    tx_hash: UNKNOWN,
  };
  const askDid = () => t.call('GET /api/indexer/dids', { hash: UNKNOWN });

  test('is asked under its own path with the checked parameter only, in lower case', async () => {
    answer = () => Response.json(did);
    const hash = `0x${'AB'.repeat(32)}`;
    await t.call('GET /api/indexer/dids', { hash });
    expect(requests).toEqual([`/v1/${KEY}/dids?token=${KEY}&hash=${hash.toLowerCase()}`]);
  });

  test('has its answer cut to the members there are, and to their forms', async () => {
    const wild = { ...did, block_number: 7, metadata_cid: null, controller: `0x${'AB'.repeat(20)}` };
    answer = () => Response.json({ ...wild, secret: KEY, __proto__: 1 });
    expect((await askDid()).body).toEqual(did);
    answer = () => Response.json({ found: false, hint: KEY });
    expect((await askDid()).body).toEqual({ found: false });
  });

  const wrong: [string, unknown][] = [
    ['an array', [did]],
    ['a string', 'found'],
    ['null', null],
    ['no found', { ...did, found: undefined }],
    ['a number where a hash is', { ...did, tx_hash: 7 }],
    ['markup where an address is', { ...did, controller: '<script>' }],
    ['a fraction where a block is', { ...did, block_number: 1.5 }],
    ['a block below zero', { ...did, block_number: '-1' }],
    ['a text where a truth is', { ...did, active: 'true' }],
  ];
  test.each(wrong)('that answers %s is 502 indexer_error', async (_, body) => {
    answer = () => Response.json(body);
    const reply = await askDid();
    expect([reply.status, reply.body]).toEqual([502, { error: 'indexer_error' }]);
  });

  test.each([201, 204, 400, 404, 429, 500, 503])('that answers with status %i is 502 indexer_error', async (status) => {
    answer = () => new Response(status === 204 ? null : JSON.stringify(did), { status });
    const reply = await askDid();
    expect([reply.status, reply.body]).toEqual([502, { error: 'indexer_error' }]);
  });

  test.each(FAULTS.filter((fault) => fault !== 'silence'))('in trouble (%s) is 502 indexer_error', async (fault) => {
    answer = (request) => answerFault(fault, request);
    const reply = await askDid();
    expect([reply.status, reply.body]).toEqual([502, { error: 'indexer_error' }]);
  });

  test('that does not answer in 10 seconds is 504 indexer_timeout', async () => {
    answer = (request) => answerFault('silence', request);
    const asking = askDid();
    await t.clock.advance(UPSTREAM_TIMEOUT_MS - 1);
    expect(await staysPending(asking)).toBe(true);
    await t.clock.advance(1);
    const reply = await asking;
    expect([reply.status, reply.body]).toEqual([504, { error: 'indexer_timeout' }]);
  });

  test('is told of in no answer and no log: neither its address nor its key', async () => {
    answer = () => Response.json({ error: KEY }, { status: 500 });
    const reply = await askDid();
    expectHoldsNone([reply.text, [...reply.headers], t.entries], KEY, `:${upstream.port}`);
  });

  test('is not asked for what is refused here', async () => {
    await t.call('GET /api/indexer/dids', { hash: 'x' });
    await t.call('GET /api/indexer/admin');
    await t.call('GET /api/indexer/stats?all=1');
    expect(requests).toEqual([]);
  });
});

test('the limit of proxied requests holds, and is per minute', async () => {
  const t = await startVault({ ...actors.vars, RATE_LIMIT_PROXY_PER_IP: '2' });
  await t.work();
  for (const path of ['stats', 'health']) expect((await t.call(`GET /api/indexer/${path}`)).status).toBe(200);
  const reply = await t.call('GET /api/indexer/stats');
  expect([reply.status, reply.body, reply.headers.get('retry-after')]).toEqual([
    429,
    { error: 'rate_limited', limit: 'proxy-per-ip', retry_after: 60 },
    '60',
  ]);
  await t.clock.advance(DAY_MS);
  expect((await t.call('GET /api/indexer/stats')).status).toBe(200);
  await t.stop();
});
