// What an account of the second kind allows, as docs/contracts.md says it to whoever writes a wallet for one.
import { afterAll, describe, expect, test } from 'bun:test';
import { Hex, Secp256k1 } from 'ox';
import { hashMessage, zeroAddress } from 'viem';
import { encodeExecuteData } from 'viem/experimental/erc7821';
import { accountFactory2Abi } from '../../../contracts/abi.ts';
import {
  addressSigner,
  operationDigest,
  passkeySigner,
  type Signer,
  signDigest,
  signUntil,
  vetoDigest,
} from '../../../scripts/dev-stack/account2.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import { operationHash, type SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { addressOf } from '../../../scripts/dev-stack/wallet.ts';
import {
  createdAccount2,
  errorName,
  fundedAccount2,
  keysOf,
  own,
  ownData,
  read,
  recoveryOf,
  refusedWith,
  run,
  runOwn,
  send,
  setTime,
  timeOf,
} from '../../support/account2.ts';
import { balanceOf, draftOf, handleOps, readAccount, refusal } from '../../support/operations.ts';
import {
  COMMITMENT,
  DELAY,
  guarded,
  guardianOf,
  LABEL,
  proposalOf,
  propose,
  refusedProposal,
  veto,
} from '../../support/recoveries.ts';
import { callAs } from '../../support/second-account.ts';
import { settled } from '../../support/settled.ts';

const SIGNATURE_ERROR = 'AA24 signature error';

const { rpc, stop } = await startChain();
afterAll(stop);

/** An account with a wallet's key at index 1 beside its passkey. */
async function withWallet(of?: SmartAccount, privateKey = Secp256k1.randomPrivateKey()) {
  const account = of ?? (await createdAccount2(rpc));
  const wallet = addressSigner(privateKey, 1);
  await run(rpc, account, [own(account, 'addKey', wallet.x, wallet.y, LABEL)]);
  return { account, wallet, privateKey };
}

/** A payment of 1 wei under a nonce of its own, signed until a time. */
async function signedPayment(account: SmartAccount, signer: Signer, validUntil?: number) {
  const payee = Hex.random(20);
  const draft = await draftOf(rpc, account, [{ target: payee, value: 1n }]);
  const nonce = Hex.toBigInt(Hex.random(20)) << 64n;
  return { payee, operation: await signUntil(rpc, account, { ...draft, nonce }, signer, validUntil) };
}

describe('a key that was removed', () => {
  test('signs nothing, and what it signed without an end counts again once it is added again (A2)', async () => {
    const { account, wallet } = await withWallet();
    const endless = await signedPayment(account, wallet);
    const short = await signedPayment(account, wallet, (await timeOf(rpc)) + 600);
    const remove = own(account, 'removeKey', 1, wallet.x, wallet.y);
    await run(rpc, account, [remove]);
    for (const { operation } of [endless, short])
      expect(await refusal(rpc, account.entryPoint, operation)).toBe(SIGNATURE_ERROR);
    await setTime(rpc, (await timeOf(rpc)) + 601);
    await run(rpc, account, [own(account, 'addKey', wallet.x, wallet.y, LABEL)]);
    expect(await refusal(rpc, account.entryPoint, short.operation)).toBe('AA22 expired or not due');
    expect((await handleOps(rpc, account.entryPoint, endless.operation)).events).toMatchObject([{ success: true }]);
    expect(await balanceOf(rpc, endless.payee)).toBe(1n);
  });

  test('still signs the second operation of the bundle whose first one removes it (A3)', async () => {
    const { account, wallet } = await withWallet();
    const { x, y } = passkeySigner(account.passkey);
    const removal = { ...(await draftOf(rpc, account, [])), callData: ownData('removeKey', 0, x, y) };
    const { payee, operation } = await signedPayment(account, passkeySigner(account.passkey));
    const first = await signUntil(rpc, account, removal, wallet);
    const { events } = await handleOps(rpc, account.entryPoint, first, operation);
    expect(events).toMatchObject([{ success: true }, { success: true }]);
    expect([await balanceOf(rpc, payee), await read(rpc, account, 'isKey', x, y)]).toEqual([1n, false]);
    const next = await signedPayment(account, passkeySigner(account.passkey));
    expect(await refusal(rpc, account.entryPoint, next.operation)).toBe(SIGNATURE_ERROR);
  });

  test('opens the same address on another chain, where its operations of this one count for nothing (X2)', async () => {
    const { account, wallet } = await withWallet();
    const here = await signedPayment(account, passkeySigner(account.passkey));
    const { x, y } = passkeySigner(account.passkey);
    await run(rpc, account, [own(account, 'removeKey', 0, x, y)], { signer: wallet });
    const other = await startChain({ chainId: 8453 });
    const there = await fundedAccount2(other.rpc, '0.7', account.passkey);
    expect(there.address).toBe(account.address);
    expect((await run(other.rpc, there, [])).events).toMatchObject([{ success: true }]);
    expect(await refusal(other.rpc, there.entryPoint, here.operation)).toBe(SIGNATURE_ERROR);
    await other.stop();
  });
});

test('a wallet that is a key of two accounts signs for each of them alone (A9)', async () => {
  const { account, wallet, privateKey } = await withWallet();
  const sibling = await fundedAccount2(rpc, '0.7', account.passkey, 1n);
  await run(rpc, sibling, []);
  await withWallet(sibling, privateKey);
  const [draft, drafted] = [await draftOf(rpc, account, []), await draftOf(rpc, sibling, [])];
  const { signature } = await signUntil(rpc, account, draft, wallet);
  expect(await refusal(rpc, sibling.entryPoint, { ...drafted, signature })).toBe(SIGNATURE_ERROR);
  await guarded(rpc, account);
  await guarded(rpc, sibling);
  const passkey = createPasskey();
  const [here, there] = [await propose(rpc, account, passkey), await propose(rpc, sibling, passkey)];
  expect(there).toMatchObject({ id: here.id, x: here.x, y: here.y });
  const args = [veto(account, here, wallet)];
  expect(await refusedWith(rpc, 'bob', sibling, { name: 'vetoRecovery', args })).toBe('InvalidVeto');
  expect(await refusedWith(rpc, 'bob', account, { name: 'vetoRecovery', args })).toBeNull();
});

test('a signature of an operation or a veto is none of a message, and that of a message is no other’s (A10)', async () => {
  const account = await guarded(rpc);
  const signer = passkeySigner(account.passkey);
  const operation = await signUntil(rpc, account, await draftOf(rpc, account, []));
  const hash = operationHash(account, operation, 84532);
  const digest = operationDigest(hash, 2 ** 47 - 1);
  const proposal = await propose(rpc, account);
  const vetoed = vetoDigest(account.address, 84532, proposal);
  const assertion = Hex.concat('0x00', Hex.slice(operation.signature, 7));
  for (const [asked, signature] of [
    [digest, assertion],
    [hash, assertion],
    [digest, signDigest(signer, digest)],
    [vetoed, veto(account, proposal)],
  ] as const)
    expect(await read(rpc, account, 'isValidSignature', asked, signature)).toBe('0xffffffff');
  const message = signDigest(signer, hashMessage('hello'));
  expect(await refusedWith(rpc, 'bob', account, { name: 'vetoRecovery', args: [message] })).toBe('InvalidVeto');
  const asOperation = Hex.concat(Hex.slice(operation.signature, 0, 7), Hex.slice(message, 1));
  expect(await refusal(rpc, account.entryPoint, { ...operation, signature: asOperation })).toBe(SIGNATURE_ERROR);
  expect(await refusal(rpc, account.entryPoint, { ...operation, signature: veto(account, proposal) })).toBe(
    SIGNATURE_ERROR,
  );
});

describe('an address that delegates to the code (EIP-7702)', () => {
  const delegate = (address: Hex.Hex, to: Hex.Hex) => rpc('anvil_setCode', [address, Hex.concat('0xef0100', to)]);

  test('has no key of the account whose proxy it delegates to (A13)', async () => {
    const account = await createdAccount2(rpc);
    const address = addressOf(Secp256k1.randomPrivateKey());
    await delegate(address, account.address);
    await rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
    const delegating = { ...account, address };
    expect(await keysOf(rpc, delegating)).toEqual([]);
    const { operation } = await signedPayment(delegating, passkeySigner(account.passkey));
    expect(await refusal(rpc, account.entryPoint, operation)).toBe(SIGNATURE_ERROR);
  });

  test('has the keys again that it stored, when it delegates again (A14)', async () => {
    const account = await createdAccount2(rpc);
    const implementation = await readAccount(rpc, accountFactory2Abi, account.factory, 'implementation');
    const address = addressOf(Secp256k1.randomPrivateKey());
    const delegating = { ...account, address };
    const phone = passkeySigner(createPasskey(), 1);
    await delegate(address, implementation as Hex.Hex);
    await rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
    await callAs(rpc, address, address, ownData('addKey', phone.x, phone.y, LABEL));
    expect(await read(rpc, delegating, 'isKey', phone.x, phone.y)).toBe(true);
    const { payee, operation } = await signedPayment(delegating, phone);
    await rpc('anvil_setCode', [address, '0x']);
    expect(await settled(handleOps(rpc, account.entryPoint, operation))).toThrow();
    await delegate(address, implementation as Hex.Hex);
    expect((await handleOps(rpc, account.entryPoint, operation)).events).toMatchObject([{ success: true }]);
    expect(await balanceOf(rpc, payee)).toBe(1n);
  });
});

test('the EntryPoint as guardian gives nobody a right, and a cancellation by owners counts as its withdrawal (A16)', async () => {
  const account = await createdAccount2(rpc);
  await runOwn(rpc, account, 'setGuardian', account.entryPoint, DELAY, COMMITMENT);
  for (const by of ['alice', 'utility'] as const)
    expect(await refusedProposal(rpc, account, { by })).toBe('NotGuardian');
  const stranger = await createdAccount2(rpc);
  const call = { target: account.address, data: ownData('proposeRecovery', ...proposalOf(createPasskey())) };
  const { events, reason } = await run(rpc, stranger, [call]);
  expect([events[0]?.success, errorName(reason)]).toEqual([false, 'NotGuardian']);
  for (const vetoes of [0, 0]) {
    expect(await runOwn(rpc, account, 'proposeRecovery', ...proposalOf(createPasskey()))).toBeUndefined();
    expect(await runOwn(rpc, account, 'cancelRecovery')).toBeUndefined();
    expect(await guardianOf(rpc, account)).toMatchObject({ vetoes });
  }
  await runOwn(rpc, account, 'proposeRecovery', ...proposalOf(createPasskey()));
  await send(rpc, 'bob', account, 'vetoRecovery', veto(account, await recoveryOf(rpc, account)));
  expect(await guardianOf(rpc, account)).toMatchObject({ vetoes: 1 });
});

test('the zero address in a batch of ERC-7821 is the account itself, in executeBatch nobody (X3)', async () => {
  const account = await createdAccount2(rpc);
  const [one, other] = [1, 2].map(() => addressSigner(Secp256k1.randomPrivateKey(), 1).x) as [bigint, bigint];
  const add = (x: bigint) => ownData('addKey', x, 0n, LABEL);
  await run(rpc, account, [], { callData: encodeExecuteData({ calls: [{ to: zeroAddress, data: add(one) }] }) });
  const { events } = await run(rpc, account, [{ target: zeroAddress, data: add(other) }, { target: zeroAddress }]);
  expect(events).toMatchObject([{ success: true }]);
  expect(await read(rpc, account, 'isKey', one, 0n)).toBe(true);
  expect(await read(rpc, account, 'isKey', other, 0n)).toBe(false);
});
