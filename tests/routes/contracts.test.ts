import { afterEach, beforeEach, expect, test } from 'bun:test';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ DID_REGISTRY_ADDRESS: undefined });
});
afterEach(() => t.stop());

test('§4 contracts: the chain and its contracts, cached for a day', async () => {
  const reply = await t.call('GET /api/contracts');
  expect(reply.status).toBe(200);
  expect(reply.headers.get('cache-control')).toBe('public, max-age=86400');
  expect(reply.body.chainId).toBe(84532);
  const { registrar, ...contracts } = reply.body;
  const lower = Object.fromEntries(
    Object.entries(contracts).map(([name, value]) => [name, String(value).toLowerCase()]),
  );
  expect(lower).toEqual({
    chainId: '84532',
    entryPoint: '0x0000000071727de22e5e9d8baf0edac6f37da032',
    didRegistry: '0xd38972ffea26b66f09e2109e650887acd447e7b7',
    accountHelper: '0xd4d57cc363dd419cd95712eb5cddf1797ceb9dde',
    sessionSBT: '0x5a2822bd69aa3799232ac57decf2b07e3fed1881',
    hyperAuthFactory: '0xb797f4799d8aa218e9207f918fdea3afc76b1e18',
    accountFactory2: 'null',
    guardian: 'null',
  });
});

test('the second factory is there once it is set', async () => {
  const factory = '0x0000000071727De22E5E9d8BAf0edAc6f37da032';
  const other = await startVault({ ACCOUNT_FACTORY_2_ADDRESS: factory });
  expect((await other.call('GET /api/contracts')).body.accountFactory2).toBe(factory);
  await other.stop();
  expect((await t.call('GET /api/contracts')).body.accountFactory2).toBeNull();
});

test('§1.8 contracts: names the registrar, which every passkey proof is for', async () => {
  const other = await startVault({ REGISTRAR_DID: 'did:web:registrar.example' });
  expect((await other.call('GET /api/contracts')).body.registrar).toBe('did:web:registrar.example');
  await other.stop();
  expect((await t.call('GET /api/contracts')).body.registrar).toMatch(/^did:web:localhost%3A\d+$/);
});

test('contracts that are not on the configured chain are null', async () => {
  const other = await startVault({ CHAIN_ID: '31337', CHAIN_NAME: 'Local', RPC_URL: 'http://127.0.0.1:1' });
  const { body } = await other.call('GET /api/contracts');
  expect(body).toMatchObject({ chainId: 31337, didRegistry: null, sessionSBT: null });
  await other.stop();
});
