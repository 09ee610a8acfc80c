import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Address, Hex, Secp256k1 } from 'ox';
import { encodeExecuteData } from 'viem/experimental/erc7821';
import {
  addressSigner,
  encodeSignature,
  NO_END,
  operationDigest,
  passkeySigner,
  signUntil,
} from '../../../scripts/dev-stack/account2.ts';
import { type Chain, type ChainRpc, startChain } from '../../../scripts/dev-stack/chain.ts';
import { isDeployed } from '../../../scripts/dev-stack/create2.ts';
import { deployEntryPoints, ENTRY_POINTS } from '../../../scripts/dev-stack/entrypoints.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import * as wallet from '../../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';
import {
  createdAccount2,
  fundedAccount2,
  NODES,
  own,
  read,
  run,
  setTime,
  timeOf,
  VERSIONS,
  type Version,
} from '../../support/account2.ts';
import { balanceOf, draftOf, handleOps, hashOf, refusal } from '../../support/operations.ts';

const SIGNATURE_ERROR = 'AA24 signature error';

const nodes = new Map<string, Chain>();
beforeAll(async () => {
  for (const [name, options] of Object.entries(NODES)) {
    const chain = await startChain(options);
    await deployEntryPoints(chain.rpc, VERSIONS);
    nodes.set(name, chain);
  }
});
afterAll(() => Promise.all(Array.from(nodes.values(), ({ stop }) => stop())));

describe.each(Object.keys(NODES))('on a chain %s', (node) => {
  describe.each(VERSIONS)('a second account of EntryPoint %s', (version) => {
    let rpc: ChainRpc;
    beforeAll(() => {
      ({ rpc } = nodes.get(node) as Chain);
    });

    test('is created, makes a call and then batches by operations that its passkey signed', async () => {
      const account = await fundedAccount2(rpc, version);
      const [first, second] = [randomAddress(), randomAddress()];
      expect(await isDeployed(rpc, account.address)).toBe(false);
      const created = await run(rpc, account, [{ target: first, value: 1n }]);
      expect(created.events).toMatchObject([{ sender: account.address, nonce: 0n, success: true }]);
      const calls = [first, second].map((target) => ({ target, to: target, value: 2n }));
      expect((await run(rpc, account, calls)).events).toMatchObject([{ nonce: 1n, success: true }]);
      const callData = encodeExecuteData({ calls });
      expect((await run(rpc, account, [], { callData })).events).toMatchObject([{ nonce: 2n, success: true }]);
      expect([await balanceOf(rpc, first), await balanceOf(rpc, second)]).toEqual([5n, 4n]);
      expect(await read(rpc, account, 'getNonce')).toBe(3n);
    });

    test('signs with the very hash that the EntryPoint computes, and the end', async () => {
      const account = await fundedAccount2(rpc, version);
      const operation = await draftOf(rpc, account, []);
      const hash = wallet.operationHash(account, operation, 84532);
      expect(await hashOf(rpc, account.entryPoint, operation)).toBe(hash);
      await handleOps(rpc, account.entryPoint, await signUntil(rpc, account, operation));
      expect(await read(rpc, account, 'operationDigest', hash, 7)).toBe(operationDigest(hash, 7));
    });

    test('does nothing for another key, for an operation that was changed, or twice', async () => {
      const account = await createdAccount2(rpc, version);
      const operation = await draftOf(rpc, account, [{ target: randomAddress(), value: 1n }]);
      const signed = await signUntil(rpc, account, operation);
      const strangers = [
        passkeySigner(createPasskey()),
        passkeySigner(account.passkey, 1),
        addressSigner(Secp256k1.randomPrivateKey(), 0),
        addressSigner(Secp256k1.randomPrivateKey(), 255),
      ];
      for (const signer of strangers) {
        expect(await refused(rpc, account, await signUntil(rpc, account, operation, signer))).toBe(SIGNATURE_ERROR);
      }
      const changes: Partial<wallet.Operation>[] = [
        { callData: wallet.accountCallData([{ target: randomAddress(), value: 1n }]) },
        { nonce: 1n << 64n },
        { callGasLimit: operation.callGasLimit + 1n },
        { preVerificationGas: operation.preVerificationGas + 1n },
        { maxFeePerGas: operation.maxFeePerGas + 1n },
      ];
      for (const change of changes) expect(await refused(rpc, account, { ...signed, ...change })).toBe(SIGNATURE_ERROR);
      await handleOps(rpc, account.entryPoint, signed);
      expect(await refused(rpc, account, signed)).toBe('AA25 invalid account nonce');
    });

    test('an operation ends after its validUntil, which is signed and never absent', async () => {
      const account = await createdAccount2(rpc, version);
      const end = (await timeOf(rpc)) + 1_000;
      const operation = await draftOf(rpc, account, []);
      const sign = (validUntil: number) => signUntil(rpc, account, operation, undefined, validUntil);
      for (const none of [0, NO_END + 1, 2 ** 48 - 1]) {
        expect(await refused(rpc, account, await sign(none))).toBe(SIGNATURE_ERROR);
      }
      const signed = await sign(end);
      const later = Hex.concat('0x00', Hex.fromNumber(end + 1, { size: 6 }), Hex.slice(signed.signature, 7));
      expect(await refused(rpc, account, { ...signed, signature: later })).toBe(SIGNATURE_ERROR);
      expect(await refused(rpc, account, await sign(end - 5_000))).toBe('AA22 expired or not due');
      await setTime(rpc, end + 1);
      expect(await refused(rpc, account, signed)).toBe('AA22 expired or not due');
      expect((await handleOps(rpc, account.entryPoint, await sign(end + 100))).events).toHaveLength(1);
    });

    test('takes a signature in its one form', async () => {
      const account = await createdAccount2(rpc, version);
      const operation = await signUntil(rpc, account, await draftOf(rpc, account, []));
      const challenge = Hex.toBytes(operationDigest(wallet.operationHash(account, operation, 84532), NO_END));
      const asserted = (...args: Parameters<typeof account.passkey.assert>) =>
        encodeSignature({ index: 0 }, wallet.encodeAssertion(account.passkey.assert(...args)), NO_END);
      const forms: Record<string, Hex.Hex> = {
        'user not verified': asserted(challenge, { flags: 0x01 }),
        'user not present': asserted(challenge, { flags: 0x04 }),
        'backed up without being eligible': asserted(challenge, { flags: 0x15 }),
        'a registration': asserted(challenge, { clientData: { type: 'webauthn.create' } }),
        'the hash without an end': asserted(Hex.toBytes(wallet.operationHash(account, operation, 84532))),
        'as for a first account': Hex.slice(operation.signature, 7),
        'cut short': Hex.slice(operation.signature, 0, 224),
        'index and end alone': Hex.slice(operation.signature, 0, 7),
        'an index alone': '0x00',
        'an address’s form': Hex.concat(Hex.slice(operation.signature, 0, 7), Hex.random(65)),
        nothing: '0x',
      };
      for (const [name, signature] of Object.entries(forms)) {
        const reason = await refused(rpc, account, { ...operation, signature });
        expect({ name, reason }).toEqual({ name, reason: SIGNATURE_ERROR });
      }
      const synced = asserted(challenge, { flags: 0x1d, origin: 'https://other.example' });
      expect((await handleOps(rpc, account.entryPoint, { ...operation, signature: synced })).events).toHaveLength(1);
    });

    test('each of its keys signs, passkey or address, and one that was removed does not', async () => {
      const account = await createdAccount2(rpc, version);
      const phone = passkeySigner(createPasskey(), 1);
      const exit = addressSigner(Secp256k1.randomPrivateKey(), 2);
      await run(rpc, account, [
        own(account, 'addKey', phone.x, phone.y, Hex.padRight('0x01', 32)),
        own(account, 'addKey', exit.x, exit.y, Hex.padRight('0x02', 32)),
      ]);
      const payee = randomAddress();
      for (const signer of [passkeySigner(account.passkey), phone, exit]) {
        const { events } = await run(rpc, account, [{ target: payee, value: 1n }], { signer });
        expect(events).toMatchObject([{ success: true }]);
      }
      expect(await balanceOf(rpc, payee)).toBe(3n);
      const [firstX, firstY] = [passkeySigner(account.passkey).x, passkeySigner(account.passkey).y];
      await run(rpc, account, [own(account, 'removeKey', 0, firstX, firstY)], { signer: exit });
      const draft = await draftOf(rpc, account, []);
      expect(await refused(rpc, account, await signUntil(rpc, account, draft))).toBe(SIGNATURE_ERROR);
      expect((await run(rpc, account, [], { signer: phone })).events).toHaveLength(1);
      expect(await read(rpc, account, 'getOwner')).toEqual([phone.x, phone.y]);
    });

    test('is not moved by another EntryPoint', async () => {
      const account = await createdAccount2(rpc, version);
      for (const other of VERSIONS.filter((one) => one !== version)) {
        const misled = { ...account, entryPoint: ENTRY_POINTS[other] };
        const operation = await signUntil(rpc, misled, await draftOf(rpc, misled, []));
        expect(await refused(rpc, misled, operation)).toBe('AA23 reverted');
      }
    });

    test('a creation by a stranger between signing and inclusion', async () => {
      const account = await fundedAccount2(rpc, version);
      const payee = randomAddress();
      const operation = await signUntil(rpc, account, await draftOf(rpc, account, [{ target: payee, value: 1n }]));
      const creation = { to: account.factory, data: account.factoryData };
      await sendTransaction(rpc, devAccount('alice').privateKey, creation);
      if (version === '0.9') {
        expect((await handleOps(rpc, account.entryPoint, operation)).events).toMatchObject([{ success: true }]);
      } else {
        expect(await refused(rpc, account, operation)).toBe('AA10 sender already constructed');
        await run(rpc, account, [{ target: payee, value: 1n }]);
      }
      expect(await balanceOf(rpc, payee)).toBe(1n);
    });
  });
});

test('the same passkey’s first and second operations differ: one end does not serve another account', async () => {
  const { rpc } = nodes.get('with the P-256 precompile') as Chain;
  const passkey = createPasskey();
  const [one, other] = [await accountOf(rpc, passkey, 0n), await accountOf(rpc, passkey, 1n)];
  const operation = await signUntil(rpc, one, await draftOf(rpc, one, []));
  const copied = { ...(await draftOf(rpc, other, [])), signature: operation.signature };
  expect(await refused(rpc, other, copied)).toBe(SIGNATURE_ERROR);
});

async function accountOf(
  rpc: ChainRpc,
  passkey: wallet.SmartAccount['passkey'],
  salt: bigint,
  version: Version = '0.7',
) {
  const account = await fundedAccount2(rpc, version, passkey, salt);
  await run(rpc, account, []);
  return account;
}

function refused(rpc: ChainRpc, account: wallet.SmartAccount, operation: wallet.Operation): Promise<string> {
  return refusal(rpc, account.entryPoint, operation);
}

function randomAddress(): Address.Address {
  return Hex.random(20);
}
