import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Abi, AbiError, AbiEvent, AbiFunction, type Address, Hex, TypedData } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import { accountAbi } from '../../lib/chain/abi.ts';
import { type Chain, type ChainRpc, startChain } from '../../scripts/dev-stack/chain.ts';
import { isDeployed } from '../../scripts/dev-stack/create2.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { deployEntryPoints, ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import * as wallet from '../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';

const ETHER = 10n ** 18n;
const MAGIC = '0x1626ba7e';
const INVALID = '0xffffffff';
const NODES = { 'with the P-256 precompile': {}, 'without it': { hardfork: 'prague' } } as const;

const PACKED =
  'struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }';
const HANDLE_OPS = AbiFunction.from([PACKED, 'function handleOps(PackedUserOperation[] ops, address beneficiary)']);
const GET_HASH = AbiFunction.from([PACKED, 'function getUserOpHash(PackedUserOperation op) view returns (bytes32)']);
const OPERATION_EVENT = AbiEvent.from(
  'event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)',
);
const FAILED_OP = AbiError.from('error FailedOp(uint256 opIndex, string reason)');
const FAILED_OP_WITH_REVERT = AbiError.from('error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner)');

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
      const data = AbiFunction.encodeData(GET_HASH, [UserOperation.toPacked(operation)]);
      const hash = await rpc('eth_call', [{ to: entryPoint, data }, 'latest']);
      expect(hash).toBe(wallet.operationHash(account, operation, 84532));
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

/** A signed operation that makes these calls, with gas enough for either way of verifying. */
async function operationOf(rpc: ChainRpc, account: wallet.SmartAccount, calls: readonly wallet.AccountCall[]) {
  const draft = await wallet.prepareOperation(rpc, account, calls);
  const limits = { callGasLimit: 500_000n, verificationGasLimit: 1_000_000n, preVerificationGas: 60_000n };
  return wallet.signOperation(rpc, account, { ...draft, ...limits });
}

/** Has an EntryPoint handle operations; what became of each, and the gas of the whole transaction. */
async function handleOps(rpc: ChainRpc, entryPoint: Address.Address, ...operations: readonly wallet.Operation[]) {
  const { address: beneficiary, privateKey } = devAccount('bob');
  const packed = operations.map((operation) => UserOperation.toPacked(operation));
  const data = AbiFunction.encodeData(HANDLE_OPS, [packed, beneficiary]);
  const { logs, gasUsed } = await sendTransaction(rpc, privateKey, { to: entryPoint, data });
  const own = logs.filter(({ topics }) => topics[0] === AbiEvent.getSelector(OPERATION_EVENT));
  const events = own.map((log) => AbiEvent.decode(OPERATION_EVENT, log as never));
  return { events, gasUsed: Number(gasUsed) };
}

/** Why an EntryPoint does not take an operation, in its own words. */
async function refusal(rpc: ChainRpc, entryPoint: Address.Address, operation: wallet.Operation): Promise<string> {
  const error: unknown = await handleOps(rpc, entryPoint, operation).catch(({ cause }) => cause);
  const { data = '0x' } = error as { data?: Hex.Hex };
  const [, reason] = AbiError.decode(
    data.startsWith(AbiError.getSelector(FAILED_OP)) ? FAILED_OP : FAILED_OP_WITH_REVERT,
    data,
  );
  return reason;
}

/** The account's own view functions. */
async function read(
  rpc: ChainRpc,
  account: Address.Address,
  name: string,
  ...args: readonly unknown[]
): Promise<unknown> {
  const item = AbiFunction.fromAbi(accountAbi as Abi.Abi, name);
  const data = AbiFunction.encodeData(item, args as never);
  return AbiFunction.decodeResult(item, (await rpc('eth_call', [{ to: account, data }, 'latest'])) as Hex.Hex);
}

async function balanceOf(rpc: ChainRpc, address: Address.Address): Promise<bigint> {
  return BigInt((await rpc('eth_getBalance', [address, 'latest'])) as string);
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
