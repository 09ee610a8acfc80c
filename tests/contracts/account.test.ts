import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Address, Hex, TypedData } from 'ox';
import { accountAbi } from '../../contracts/abi.ts';
import { type Chain, type ChainRpc, startChain } from '../../scripts/dev-stack/chain.ts';
import { isDeployed } from '../../scripts/dev-stack/create2.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { deployEntryPoints, ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import * as wallet from '../../scripts/dev-stack/user-operation.ts';
import { balanceOf, draftOf, handleOps, hashOf, readAccount, refusal } from '../support/operations.ts';

const ETHER = 10n ** 18n;
const MAGIC = '0x1626ba7e';
const INVALID = '0xffffffff';
const NODES = { 'with the P-256 precompile': {}, 'without it': { hardfork: 'prague' } } as const;

const nodes = new Map<string, Chain>();
beforeAll(async () => {
  for (const [name, options] of Object.entries(NODES)) {
    const chain = await startChain(options);
    await deployEntryPoints(chain.rpc);
    nodes.set(name, chain);
  }
});
afterAll(() => Promise.all(Array.from(nodes.values(), ({ stop }) => stop())));

describe.each(Object.keys(NODES))('on a chain %s', (node) => {
  describe.each(['0.7', '0.8'] as const)('an account of EntryPoint %s', (version) => {
    const entryPoint = ENTRY_POINTS[version];
    let rpc: ChainRpc;
    beforeAll(() => {
      ({ rpc } = nodes.get(node) as Chain);
    });

    test('is created, makes a call and then a batch by operations that its passkey signed', async () => {
      const account = await fundedAccount(rpc, version);
      const [first, second] = [randomAddress(), randomAddress()];
      const creation = await operationOf(rpc, account, [{ target: first, value: 1n }]);
      expect(await isDeployed(rpc, account.address)).toBe(false);
      const created = await handleOps(rpc, entryPoint, creation);
      expect(created.events).toMatchObject([{ sender: account.address, nonce: 0n, success: true }]);
      const calls = [first, second].map((target) => ({ target, value: 2n }));
      const batch = await handleOps(rpc, entryPoint, await operationOf(rpc, account, calls));
      expect(batch.events).toMatchObject([{ sender: account.address, nonce: 1n, success: true }]);
      expect([await balanceOf(rpc, first), await balanceOf(rpc, second)]).toEqual([3n, 2n]);
      expect(await read(rpc, account.address, 'getNonce')).toBe(2n);
    });

    test('signs the very hash that the EntryPoint computes', async () => {
      const account = await fundedAccount(rpc, version);
      const operation = await operationOf(rpc, account, []);
      expect(await hashOf(rpc, entryPoint, operation)).toBe(wallet.operationHash(account, operation, 84532));
    });

    test('does nothing for another passkey, for an operation that was changed, or twice', async () => {
      const account = await fundedAccount(rpc, version);
      const creation = await operationOf(rpc, account, [{ target: randomAddress(), value: 1n }]);
      const thief = await wallet.signOperation(rpc, account, creation, createPasskey());
      expect(await refusal(rpc, entryPoint, thief)).toBe('AA24 signature error');
      const changed = { ...creation, callData: wallet.accountCallData([{ target: randomAddress(), value: 1n }]) };
      expect(await refusal(rpc, entryPoint, changed)).toBe('AA24 signature error');
      await handleOps(rpc, entryPoint, creation);
      expect(await refusal(rpc, entryPoint, creation)).toBe('AA10 sender already constructed');
      const next = await operationOf(rpc, account, [{ target: randomAddress(), value: 1n }]);
      expect(await refusal(rpc, entryPoint, { ...next, signature: creation.signature })).toBe('AA24 signature error');
      await handleOps(rpc, entryPoint, next);
      expect(await refusal(rpc, entryPoint, next)).toBe('AA25 invalid account nonce');
    });

    test('takes no assertion but one of WebAuthn with the user verified, in its one form', async () => {
      const account = await fundedAccount(rpc, version);
      const operation = await operationOf(rpc, account, []);
      const challenge = Hex.toBytes(wallet.operationHash(account, operation, 84532));
      const { passkey } = account;
      const assertions: Record<string, Hex.Hex> = {
        'user not verified': wallet.encodeAssertion(passkey.assert(challenge, { flags: 0x01 })),
        'user not present': wallet.encodeAssertion(passkey.assert(challenge, { flags: 0x04 })),
        'backed up without being eligible': wallet.encodeAssertion(passkey.assert(challenge, { flags: 0x15 })),
        'a registration': wallet.encodeAssertion(
          passkey.assert(challenge, { clientData: { type: 'webauthn.create' } }),
        ),
        'another challenge': wallet.encodeAssertion(passkey.assert(Hex.toBytes(Hex.random(32)))),
        's in the upper half': withHighS(operation.signature),
        'cut short': Hex.slice(operation.signature, 0, 224),
        nothing: '0x',
      };
      for (const [name, signature] of Object.entries(assertions)) {
        const reason = await refusal(rpc, entryPoint, { ...operation, signature });
        expect({ name, reason }).toEqual({ name, reason: 'AA24 signature error' });
      }
      const synced = wallet.encodeAssertion(
        passkey.assert(challenge, { flags: 0x1d, origin: 'https://other.example' }),
      );
      expect((await handleOps(rpc, entryPoint, { ...operation, signature: synced })).events).toHaveLength(1);
    });

    test('is not moved by the other EntryPoint', async () => {
      const account = await fundedAccount(rpc, version);
      await handleOps(rpc, entryPoint, await operationOf(rpc, account, []));
      const other = ENTRY_POINTS[version === '0.7' ? '0.8' : '0.7'];
      const misled = { ...account, entryPoint: other };
      const operation = await operationOf(rpc, misled, [{ target: randomAddress(), value: 1n }]);
      expect(await refusal(rpc, other, operation)).toBe('AA23 reverted');
    });

    test('vouches for what its passkey signed for it, here (ERC-1271)', async () => {
      const account = await fundedAccount(rpc, version);
      const twin = await wallet.openAccount(
        rpc,
        await deployContracts(rpc, { entryPoint: version }),
        account.passkey,
        1n,
      );
      await rpc('anvil_setBalance', [twin.address, Hex.fromNumber(ETHER)]);
      await handleOps(rpc, entryPoint, await operationOf(rpc, account, []), await operationOf(rpc, twin, []));
      const hash = Hex.random(32);
      const safe = (await read(rpc, account.address, 'replaySafeHash', hash)) as Hex.Hex;
      expect(safe).toBe(replaySafeHash(hash, account.address, 84532));
      const sign = (what: Hex.Hex) => wallet.encodeAssertion(account.passkey.assert(Hex.toBytes(what)));
      const isValid = (of: wallet.SmartAccount, what: Hex.Hex, signature: Hex.Hex) =>
        read(rpc, of.address, 'isValidSignature', what, signature);
      expect(await isValid(account, hash, sign(safe))).toBe(MAGIC);
      expect(await isValid(account, hash, sign(hash))).toBe(INVALID);
      expect(await isValid(account, Hex.random(32), sign(safe))).toBe(INVALID);
      expect(await isValid(twin, hash, sign(safe))).toBe(INVALID);
      expect(await isValid(account, hash, sign(replaySafeHash(hash, account.address, 8453)))).toBe(INVALID);
    });
  });
});

/** The account of a fresh passkey, with an ether. */
async function fundedAccount(rpc: ChainRpc, version: '0.7' | '0.8', passkey = createPasskey()) {
  const contracts = await deployContracts(rpc, { entryPoint: version });
  const account = await wallet.openAccount(rpc, contracts, passkey);
  await rpc('anvil_setBalance', [account.address, Hex.fromNumber(ETHER)]);
  return account;
}

/** A signed operation that makes these calls. */
async function operationOf(rpc: ChainRpc, account: wallet.SmartAccount, calls: readonly wallet.AccountCall[]) {
  return wallet.signOperation(rpc, account, await draftOf(rpc, account, calls));
}

/** The account's own view functions. */
function read(rpc: ChainRpc, account: Address.Address, name: string, ...args: readonly unknown[]): Promise<unknown> {
  return readAccount(rpc, accountAbi, account, name, ...args);
}

function randomAddress(): Address.Address {
  return Hex.random(20);
}

/** What the passkey signs in place of a message's hash. */
function replaySafeHash(hash: Hex.Hex, verifyingContract: Address.Address, chainId: number): Hex.Hex {
  return TypedData.getSignPayload({
    domain: { name: 'Vault Account', version: '1', chainId, verifyingContract },
    types: { VaultMessage: [{ name: 'hash', type: 'bytes32' }] },
    primaryType: 'VaultMessage',
    message: { hash },
  });
}

/** The same signature's other form, which is as true and could be made by anyone. */
function withHighS(signature: Hex.Hex): Hex.Hex {
  const s = P256_ORDER - Hex.toBigInt(Hex.slice(signature, 32, 64));
  return Hex.concat(Hex.slice(signature, 0, 32), Hex.fromNumber(s, { size: 32 }), Hex.slice(signature, 64));
}

const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
