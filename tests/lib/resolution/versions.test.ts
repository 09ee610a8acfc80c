import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { HEADER_READS_MAX } from '../../../lib/resolution/versions.ts';
import { startForwarder } from '../../support/forwarder.ts';
import { nextBlockAfter, timeNow, ZERO } from '../../support/registries.ts';
import { errorOf, pkh, resolve, startDidWorld } from '../../support/resolution.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

// The evidence chapter, part A, rules 3 and 8: which block is read.

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
const timeText = (seconds: bigint | number) => new Date(Number(seconds) * 1000).toISOString().replace('.000', '');

describe('evidence A3: the newest block that both nodes have', () => {
  /** Changes what a node answers to calls of a method. */
  const changing = (method: string, change: (result: never) => unknown): NonNullable<typeof node.trouble> => {
    return async (forward, _, body) => {
      const asked = [JSON.parse(body)].flat() as { id: number; method: string }[];
      const told = [(await (await forward()).json()) as { id: number; result: never }].flat();
      const isAsked = (id: number) => asked.find((one) => one.id === id)?.method === method;
      const answers = told.map((one) => (isAsked(one.id) ? { ...one, result: change(one.result) } : one));
      return Response.json(Array.isArray(JSON.parse(body)) ? answers : answers[0]);
    };
  };

  test('is read where one of two nodes is behind', async () => {
    const own = await startVault({ ...world.vars, RPC_URL: node.url, RPC_WITNESS_URL: second.url });
    const behind = (await world.height()) - 2;
    second.trouble = changing('eth_blockNumber', () => `0x${behind.toString(16)}`);
    expect((await resolve(own, did)).body.didDocumentMetadata.versionId).toBe(String(behind));
    expect(errorOf(await resolve(own, did, { query: `?versionId=${behind + 1}` }))).toBe('INVALID_OPTIONS');
    await own.stop();
  });

  test('is no answer if it is replaced while it is read', async () => {
    let reads = 0;
    node.trouble = changing('eth_getBlockByNumber', (block: object) =>
      ++reads === 1 ? block : { ...block, hash: `0x${'ab'.repeat(32)}` },
    );
    const answer = await resolve(t, did);
    expect([answer.status, errorOf(answer)]).toEqual([500, 'INTERNAL_ERROR']);
  });
});

describe('evidence A8: versions', () => {
  test.each([
    ['versionId=01', 'INVALID_OPTIONS'],
    ['versionId=-1', 'INVALID_OPTIONS'],
    ['versionId=0x1', 'INVALID_OPTIONS'],
    ['versionId=1.0', 'INVALID_OPTIONS'],
    ['versionId=999999999', 'INVALID_OPTIONS'],
    ['versionId=1&versionId=1', 'INVALID_OPTIONS'],
    ['versionId=1&versionTime=2026-11-23T08:00:00Z', 'INVALID_OPTIONS'],
    ['versionTime=2026-11-23', 'INVALID_OPTIONS'],
    ['versionTime=2026-11-23T08:00:00.5Z', 'INVALID_OPTIONS'],
    ['versionTime=2026-02-30T08:00:00Z', 'INVALID_OPTIONS'],
    ['versionTime=9999-01-01T00:00:00Z', 'INVALID_OPTIONS'],
    ['versionTime=1970-01-01T00:00:00Z', 'NOT_FOUND'],
    ['hl=abc', 'FEATURE_NOT_SUPPORTED'],
    ['service=files&versionId=1', 'FEATURE_NOT_SUPPORTED'],
  ])('?%s is %s', async (query, type) => {
    expect(errorOf(await resolve(t, did, { query: `?${query}` }))).toBe(type);
  });

  test('noCache and expandRelativeUrls change nothing', async () => {
    const { status, body } = await resolve(t, did, { query: '?noCache=true&expandRelativeUrls=true' });
    expect([status, body]).toEqual([200, (await resolve(t, did)).body]);
  });

  test('versionId is the state at that block, versionTime the newest block at or before it', async () => {
    const person = await world.person();
    const before = await world.height();
    const timeBefore = await timeNow(world.rpc);
    await nextBlockAfter(world.rpc, 1000n);
    await world.registry.act(person, 'registerSelf', ZERO, '');
    const at = await world.height();
    await nextBlockAfter(world.rpc, 1000n);
    await world.mine(300);
    const registered = async (query: string) => {
      const { body } = await resolve(t, pkh(person.address), { query });
      return [body.didDocumentMetadata.versionId, body.didDocumentMetadata.chain.registered];
    };
    expect(await registered(`?versionId=${before}`)).toEqual([String(before), false]);
    expect(await registered(`?versionId=${at}`)).toEqual([String(at), true]);
    const reads = node.methods.length;
    const searched = await registered(`?versionTime=${timeText(timeBefore + 999n)}`);
    const headers = node.methods.slice(reads).filter((method) => method === 'eth_getBlockByNumber');
    expect([searched, headers.length <= HEADER_READS_MAX]).toEqual([[String(before), false], true]);
    expect(await registered(`?versionTime=${timeText(timeBefore + 1000n)}`)).toEqual([String(at), true]);
    // Nobody had registered before the registry was there.
    expect(await registered('?versionId=0')).toEqual(['0', false]);
  });

  test('a search by time costs three', async () => {
    const own = await startVault({ ...world.vars, RATE_LIMIT_PROXY_PER_IP: '4' });
    const query = `?versionTime=${timeText(await timeNow(world.rpc))}`;
    expect((await resolve(own, did, { query })).status).toBe(200);
    expect((await resolve(own, did)).status).toBe(200);
    const refused = await fetch(`${own.url}/1.0/identifiers/${did}`);
    expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([429, 'rate_limited']);
    await own.stop();
  });

  test('a node without the state of a block says so; one that fails does not', async () => {
    const past = (await world.height()) - 1;
    const tag = `0x${past.toString(16)}`;
    node.trouble = async (forward, _, body) => {
      const asked = [JSON.parse(body)].flat() as { id: number; params: unknown[] }[];
      const told = [(await (await forward()).json()) as { id: number }].flat();
      const isPast = (id: number) => asked.find((one) => one.id === id)?.params[1] === tag;
      const error = { code: -32000, message: 'missing trie node' };
      const answers = told.map((one) => (isPast(one.id) ? { jsonrpc: '2.0', id: one.id, error } : one));
      return Response.json(Array.isArray(JSON.parse(body)) ? answers : answers[0]);
    };
    const answer = await resolve(t, did, { query: `?versionId=${past}` });
    expect([answer.status, errorOf(answer)]).toEqual([501, 'FEATURE_NOT_SUPPORTED']);
    node.trouble = () => new Response('busy', { status: 503 });
    expect(errorOf(await resolve(t, did, { query: `?versionId=${past}` }))).toBe('INTERNAL_ERROR');
  });
});
