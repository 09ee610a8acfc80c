import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import packageJson from '../../package.json' with { type: 'json' };
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { unreachable } from '../support/databases.ts';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

describe('GET /api/status', () => {
  test('§4 status: 200 with the service status, with CORS headers', async () => {
    const reply = await t.call('GET /api/status');
    const own = ['time', 'rpId', 'rpIds', 'brand', 'relays', 'enclave'];
    const members = ['chain', 'chainId', 'rpc', 'database', 'version', ...own];
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

  test('the RP ID of passkeys, and whether the vault relays', async () => {
    const { body } = await t.call('GET /api/status');
    expect([body.rpId, body.relays]).toEqual([(await t.call('GET /pay/config')).body.rpId, false]);
    const { address, privateKey } = devAccount('registrar');
    const relaying = await startVault({ REGISTRAR_PRIVATE_KEY: privateKey, DID_REGISTRY_ADDRESS: address });
    expect((await relaying.call('GET /api/status')).body.relays).toBe(true);
    await relaying.stop();
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
    const broken = await startVault({}, { database: unreachable });
    const reply = await broken.call('GET /api/status');
    expect([reply.status, reply.body.database]).toEqual([200, 'unavailable']);
    await broken.stop();
  });
});
