import { afterAll, expect, test } from 'bun:test';
import { pkh, resolve, startDidWorld } from '../../support/resolution.ts';
import { TEST_CERTIFICATES } from '../../support/tls.ts';
import { startVault, type TestVault } from '../../support/vault.ts';
import { DID_CLIENTS } from '../../tools/did-clients.ts';

// Published resolvers, unmodified, read the vault's documents and say the same of an address as it does.

const world = await startDidWorld();
let t: TestVault;
const tls = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  tls: TEST_CERTIFICATES['hooks.example'],
  fetch(request) {
    const { host = '', accept = '*/*' } = Object.fromEntries(request.headers);
    return fetch(`${t.url}${new URL(request.url).pathname}`, { headers: { host, accept } });
  },
});
const https = { BASE_URL: `https://localhost:${tls.port}`, TRUSTED_PROXIES: 'none', ALLOW_LOG_DELIVERY: 'true' };
t = await startVault({ ...world.vars, ...https });
// They take no certificate of a test.
const strictness = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
afterAll(async () => {
  if (strictness === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = strictness;
  await tls.stop(true);
  await t.stop();
  await world.stop();
});

test.each(Object.keys(DID_CLIENTS))('%s reads did.json as it is resolved', async (name) => {
  const did = `did:web:localhost%3A${tls.port}`;
  const { didDocument } = (await resolve(t, did)).body;
  expect(await DID_CLIENTS[name]?.(did)).toEqual(didDocument);
});

test('an address without code has the method that pkh-did-resolver makes, byte for byte', async () => {
  const { address } = await world.person();
  const ours = (await resolve(t, pkh(address))).body.didDocument;
  const theirs = await DID_CLIENTS['did-resolver']?.(pkh(address));
  expect(JSON.stringify(ours.verificationMethod)).toBe(JSON.stringify(theirs?.['verificationMethod']));
  expect(ours.authentication).toEqual(theirs?.['authentication']);
});
