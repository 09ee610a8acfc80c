import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { AbiConstructor, AbiFunction, Hex, P256 } from 'ox';
import { account2Abi } from '../../../contracts/abi.ts';
import { fromHex } from '../../../lib/base/bytes.ts';
import { didHash } from '../../../lib/identity/did.ts';
import { p256Multikey } from '../../../lib/identity/multikey.ts';
import { compileContracts } from '../../../scripts/contracts.ts';
import { create2 } from '../../../scripts/dev-stack/create2.ts';
import { createPasskey } from '../../support/passkey.ts';
import { keyOf, nextBlockAfter, sendAs, type TestAccount, ZERO } from '../../support/registries.ts';
import { LABEL, pkh, recordKey, resolve, spellings, startDidWorld } from '../../support/resolution.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

// The evidence chapter, part A, rules 3 to 9: what the real contracts show decides.

const world = await startDidWorld();
afterAll(() => world.stop());
const { registry, rpc } = world;

let t: TestVault;
beforeEach(async () => {
  t = await startVault(world.vars);
  // The tables are made at first use.
  await t.call('GET /readyz');
});
afterEach(() => t.stop());

const documentOf = async (did: string, query = '') => (await resolve(t, did, { query })).body.didDocument;
const metadataOf = async (did: string, query = '') => (await resolve(t, did, { query })).body.didDocumentMetadata;
const keysIn = (document: { verificationMethod?: { publicKeyMultibase?: string }[] }) =>
  (document.verificationMethod ?? []).map(({ publicKeyMultibase }) => publicKeyMultibase);

/** The Multikey of a passkey, made by ox alone. */
function multikeyOf({ passkey }: Pick<TestAccount, 'passkey'>): string {
  const [x, y] = keyOf(passkey);
  const point = Hex.concat(y % 2n === 0n ? '0x02' : '0x03', Hex.fromNumber(x, { size: 32 }));
  return p256Multikey(fromHex(point.slice(2)) as Uint8Array);
}

const own = (account: TestAccount, name: 'addKey' | 'removeKey', ...args: readonly unknown[]) =>
  sendAs(
    rpc,
    account.address,
    account.address,
    AbiFunction.encodeData(
      AbiFunction.fromAbi(account2Abi as never, name as never) as AbiFunction.AbiFunction,
      args as never,
    ),
  );
const act = (account: TestAccount, name: string, ...args: readonly unknown[]) =>
  sendAs(rpc, account.address, registry.address, registry.encode(name, ...args));

describe('evidence A4: an entry counts only if it is of the address', () => {
  test('an address that registered nothing has the document of did:pkh', async () => {
    const { address } = await world.person();
    const { status, body } = await resolve(t, pkh(address));
    expect(status).toBe(200);
    expect(body.didDocument).toMatchObject({
      id: pkh(address),
      verificationMethod: [
        {
          id: `${pkh(address)}#blockchainAccountId`,
          type: 'EcdsaSecp256k1RecoveryMethod2020',
          controller: pkh(address),
          blockchainAccountId: pkh(address).slice('did:pkh:'.length),
        },
      ],
      authentication: [`${pkh(address)}#blockchainAccountId`],
    });
    expect(body.didDocumentMetadata.chain).toMatchObject({ chainId: 'eip155:84532', registered: false });
    expect(Object.keys(body.didDocumentMetadata).sort()).toEqual(['chain', 'versionId']);
  });

  test('a squatter’s entry is nothing, nor is its deactivation', async () => {
    const [alice, mallory] = [await world.person(), await world.person()];
    await registry.act(mallory, 'register', didHash(pkh(alice.address)), ZERO, '');
    const squatted = await resolve(t, pkh(alice.address));
    expect([squatted.status, squatted.body.didDocument.controller]).toEqual([200, undefined]);
    expect(squatted.body.didDocumentMetadata.chain.registered).toBe(false);
    await registry.act(mallory, 'deactivate', didHash(pkh(alice.address)));
    const ended = await resolve(t, pkh(alice.address));
    expect([ended.status, ended.body.didDocumentMetadata.deactivated]).toEqual([200, undefined]);
    // The address takes it from the squatter.
    await registry.act(alice, 'registerSelf', ZERO, '');
    expect((await metadataOf(pkh(alice.address))).chain.registered).toBe(true);
  });

  test('did:hyper is there only if the account that it names registered it', async () => {
    const [alice, mallory] = [await world.person(), await world.person()];
    const did = `did:hyper:base-sepolia:${alice.address.toLowerCase()}`;
    await registry.act(mallory, 'register', didHash(did), ZERO, '');
    const squatted = await resolve(t, did);
    expect([squatted.status, squatted.body.didResolutionMetadata.error.type]).toEqual([
      404,
      'https://www.w3.org/ns/did#NOT_FOUND',
    ]);
    const bob = await world.person();
    const own = `did:hyper:base-sepolia:${bob.address.toLowerCase()}`;
    await registry.act(bob, 'register', didHash(own), ZERO, '');
    expect((await resolve(t, own)).status).toBe(200);
  });

  test('an offered DID is its holder’s; a moved one names its controller, in all spellings', async () => {
    const [alice, bob] = [await world.account(), await world.account()];
    await alice.create();
    await bob.create();
    await act(alice, 'registerSelf', ZERO, '');
    await act(alice, 'offerDid', didHash(pkh(alice.address)), bob.address);
    expect(keysIn(await documentOf(pkh(alice.address)))).toEqual([multikeyOf(alice)]);
    await act(bob, 'acceptDid', didHash(pkh(alice.address)));
    for (const did of spellings(pkh(alice.address))) {
      const { body } = await resolve(t, did);
      expect(body.didDocument).toMatchObject({
        id: did,
        controller: `did:pkh:eip155:84532:${bob.address.toLowerCase()}`,
        verificationMethod: [{ id: `${did}#${multikeyOf(bob)}`, type: 'Multikey', controller: did }],
        authentication: [`${did}#${multikeyOf(bob)}`],
      });
      const elsewhere = did === pkh(alice.address) ? undefined : pkh(alice.address);
      expect(body.didDocumentMetadata.canonicalId).toBe(elsewhere);
      expect(body.didDocumentMetadata.equivalentId).toEqual(elsewhere && [elsewhere]);
    }
  });

  test('evidence A9: an ended DID is 410 in all spellings, and was alive before', async () => {
    const alice = await world.person();
    await registry.act(alice, 'registerSelf', ZERO, '');
    const before = await world.height();
    await nextBlockAfter(rpc, 60n);
    await registry.act(alice, 'deactivate', didHash(pkh(alice.address)));
    for (const did of spellings(pkh(alice.address))) {
      const { status, type, body } = await resolve(t, did, { accept: 'application/did' });
      expect([status, type, body.didDocument]).toEqual([410, 'application/did-resolution', null]);
      expect([body.didResolutionMetadata, body.didDocumentMetadata.deactivated]).toEqual([{}, true]);
      expect((await resolve(t, did, { query: `?versionId=${before}` })).status).toBe(200);
    }
    const { created, updated } = await metadataOf(pkh(alice.address));
    expect([created, updated].filter((time) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time))).toHaveLength(2);
    expect(Date.parse(updated) - Date.parse(created)).toBe(60_000);
  });
});

describe('evidence A5: the keys are those of the controller’s account', () => {
  test('an account without code has the key that its address follows from, and no other', async () => {
    for (const kind of [1, 2] as const) {
      const alice = await world.account(kind);
      const mallory = await world.account(kind);
      // Somebody else has claimed the DID with a key of their own.
      await recordKey(t, pkh(alice.address), { ...mallory, address: mallory.address });
      const unknown = await documentOf(pkh(alice.address));
      expect(unknown.verificationMethod[0].type).toBe('EcdsaSecp256k1RecoveryMethod2020');
      await recordKey(t, pkh(alice.address), alice);
      expect(keysIn(await documentOf(pkh(alice.address)))).toEqual([multikeyOf(alice)]);
      await alice.create();
      expect(keysIn(await documentOf(pkh(alice.address)))).toEqual([multikeyOf(alice)]);
    }
  });

  test('a key that was added is there in the same block, and a removed one is gone', async () => {
    const alice = await world.account();
    const added = { passkey: createPasskey() };
    await alice.create();
    await own(alice, 'addKey', ...keyOf(added.passkey), LABEL);
    const both = await world.height();
    expect(keysIn(await documentOf(pkh(alice.address)))).toEqual([multikeyOf(alice), multikeyOf(added)]);
    await own(alice, 'removeKey', 0, ...keyOf(alice.passkey));
    expect(keysIn(await documentOf(pkh(alice.address)))).toEqual([multikeyOf(added)]);
    expect(keysIn(await documentOf(pkh(alice.address), `?versionId=${both}`))).toHaveLength(2);
  });

  test('a contract that shows no keys has no verification method', async () => {
    const document = await documentOf(pkh(registry.address));
    expect(Object.keys(document)).toEqual(['@context', 'id']);
  });

  test('a delegation of EIP-7702 keeps the key of its address, whatever its delegate shows', async () => {
    const [alice, { address }] = [await world.account(), await world.person()];
    await alice.create();
    await rpc('anvil_setCode', [address, `0xef0100${alice.address.slice(2)}`]);
    const { verificationMethod } = await documentOf(pkh(address));
    expect(verificationMethod.map(({ type }: { type: string }) => type)).toEqual(['EcdsaSecp256k1RecoveryMethod2020']);
  });

  test.each([
    ['burns gas', '0x5b5f56'],
    ['answers a megabyte', '0x621000005ff3'],
    ['answers nothing', '0x00'],
  ])('a contract that %s shows no keys', async (_, code) => {
    const { address } = await world.person();
    await rpc('anvil_setCode', [address, code]);
    expect(Object.keys(await documentOf(pkh(address)))).toEqual(['@context', 'id']);
  });

  test('what a contract shows is a key only as a point of the curve', async () => {
    const { KeyHolder } = await compileContracts();
    const { abi, bytecode } = KeyHolder as { abi: readonly unknown[]; bytecode: Hex.Hex };
    const [x, y] = keyOf(createPasskey());
    const code = AbiConstructor.encode(AbiConstructor.fromAbi(abi as never), { bytecode, args: [x, y + 1n] } as never);
    const holder = await create2(rpc, code);
    expect(() => P256.noble.Point.fromAffine({ x, y: y + 1n }).assertValidity()).toThrow();
    expect(keysIn(await documentOf(pkh(holder)))).toEqual([]);
  });
});

test('evidence A6: the document has nothing but keys, and asserts nothing', async () => {
  const alice = await world.account();
  await alice.create();
  const document = await documentOf(pkh(alice.address));
  expect(document).toEqual({
    '@context': ['https://www.w3.org/ns/did/v1.1'],
    id: pkh(alice.address),
    verificationMethod: [
      {
        id: `${pkh(alice.address)}#${multikeyOf(alice)}`,
        type: 'Multikey',
        controller: pkh(alice.address),
        publicKeyMultibase: multikeyOf(alice),
      },
    ],
    authentication: [`${pkh(alice.address)}#${multikeyOf(alice)}`],
  });
});

test('evidence A7: the metadata names the block, the registry and the chain, as texts', async () => {
  const alice = await world.person();
  await registry.act(alice, 'registerSelf', ZERO, '');
  const { created, versionId, chain, ...rest } = await metadataOf(pkh(alice.address));
  const block = (await rpc('eth_getBlockByNumber', ['latest', false])) as { hash: string; timestamp: string };
  expect(rest).toEqual({});
  expect(created).toBe(new Date(Number(block.timestamp) * 1000).toISOString().replace('.000', ''));
  expect([versionId, chain]).toEqual([
    String(await world.height()),
    {
      chainId: 'eip155:84532',
      blockNumber: versionId,
      blockHash: block.hash,
      registry: registry.address,
      registered: true,
    },
  ]);
});
