import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import packageJson from '../../package.json' with { type: 'json' };
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

describe('GET /api/status', () => {
  test('§4 status: 200 with the service status, with CORS headers', async () => {
    const reply = await t.call('GET /api/status');
    const members = ['chain', 'chainId', 'rpc', 'database', 'version', 'enclave'];
    expect([reply.status, Object.keys(reply.body)]).toEqual([200, members]);
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  });

  test.each([
    ['§2 service status chain', 'chain', 'Base Sepolia'],
    ['§2 service status chainId', 'chainId', 84532],
    ['§2 service status rpc', 'rpc', 'https://sepolia.base.org'],
    ['§2 service status database', 'database', 'connected'],
    ['the release', 'version', packageJson.version],
  ])('%s', async (_, name, value) => {
    expect((await t.call('GET /api/status')).body[name]).toBe(value);
  });

  test('§2 service status rpc: never the key in RPC_URL, only its origin, or RPC_PUBLIC_URL', async () => {
    const keyed = await startVault({ RPC_URL: 'https://rpc.example.com/v2/secret-key' });
    const reply = await keyed.call('GET /api/status');
    expect(reply.body.rpc).toBe('https://rpc.example.com');
    expect(reply.text).not.toContain('secret-key');
    await keyed.stop();
    const named = await startVault({
      RPC_URL: 'https://rpc.example.com/k',
      RPC_PUBLIC_URL: 'https://public.example.com',
    });
    expect((await named.call('GET /api/status')).body.rpc).toBe('https://public.example.com');
    await named.stop();
  });

  test('§2 service status database: unavailable when SELECT 1 fails, and still 200', async () => {
    const broken = await startVault({}, { database: failing });
    const reply = await broken.call('GET /api/status');
    expect([reply.status, reply.body.database]).toEqual([200, 'unavailable']);
    await broken.stop();
  });
});

test('§4 contracts: the chain and its contracts, cached for a day', async () => {
  const reply = await t.call('GET /api/contracts');
  expect(reply.status).toBe(200);
  expect(reply.headers.get('cache-control')).toBe('public, max-age=86400');
  expect(reply.body.chainId).toBe(84532);
  const lower = Object.fromEntries(
    Object.entries(reply.body).map(([name, value]) => [name, String(value).toLowerCase()]),
  );
  expect(lower).toEqual({
    chainId: '84532',
    entryPoint: '0x0000000071727de22e5e9d8baf0edac6f37da032',
    didRegistry: '0xd38972ffea26b66f09e2109e650887acd447e7b7',
    accountHelper: '0xd4d57cc363dd419cd95712eb5cddf1797ceb9dde',
    sessionSBT: '0x5a2822bd69aa3799232ac57decf2b07e3fed1881',
    hyperAuthFactory: '0xb797f4799d8aa218e9207f918fdea3afc76b1e18',
  });
});

test('contracts that are not on the configured chain are null', async () => {
  const other = await startVault({ CHAIN_ID: '31337', CHAIN_NAME: 'Local', RPC_URL: 'http://127.0.0.1:1' });
  const { body } = await other.call('GET /api/contracts');
  expect(body).toMatchObject({ chainId: 31337, didRegistry: null, sessionSBT: null });
  await other.stop();
});

describe('supervisors', () => {
  test('/healthz tells that the process lives, /readyz that the database takes writes', async () => {
    expect((await t.call('GET /healthz')).body).toEqual({ ok: true });
    const ready = await t.call('GET /readyz');
    expect([ready.status, ready.body]).toEqual([200, { ok: true, database: 'writable' }]);
  });

  test('/readyz is 503 without a writable database, and asks it at most every two seconds', async () => {
    let asked = 0;
    const batch = () => {
      asked++;
      return failing.batch();
    };
    const counting = { ...failing, batch };
    const broken = await startVault({}, { database: counting });
    for (let i = 0; i < 5; i++) {
      const reply = await broken.call('GET /readyz');
      expect([reply.status, reply.body]).toEqual([503, { ok: false, database: 'unavailable' }]);
    }
    const first = asked;
    await broken.clock.advance(2_000);
    await broken.call('GET /readyz');
    expect(asked).toBe(2 * first);
    await broken.stop();
  });
});

test("/.well-known/did.json is the registrar's document with the operator's key", async () => {
  const { status, body } = await t.call('GET /.well-known/did.json');
  const did = `did:web:localhost%3A${new URL(t.url).port}`;
  expect([status, body.id]).toEqual([200, did]);
  const [method] = body.verificationMethod;
  expect(method).toMatchObject({ id: `${did}#operator`, type: 'Multikey', controller: did });
  expect(method.publicKeyMultibase).toStartWith('z6Mk');
  expect(body.alsoKnownAs).toEqual([`did:key:${method.publicKeyMultibase}`]);
  const elsewhere = await startVault({ REGISTRAR_DID: 'did:web:elsewhere.example' });
  expect((await elsewhere.call('GET /.well-known/did.json')).status).toBe(404);
  await elsewhere.stop();
});

/** A database nobody can reach. */
const failing = {
  execute: (): Promise<never> => Promise.reject(new Error('unreachable')),
  batch: (): Promise<never> => Promise.reject(new Error('unreachable')),
};
