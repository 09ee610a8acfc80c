import { describe, expect, test } from 'bun:test';
import { AbiFunction, AbiParameters, ContractAddress, Hash, Hex, TypedData } from 'ox';
import { daysOf, isName, labelOf, left, short } from '../../../assets/account/format.ts';
import { digitsOf, mailboxOf } from '../../../assets/account/join.ts';
import { recoverChallenge } from '../../../assets/account/lost.ts';
import { initCodeOf } from '../../../assets/account/move.ts';
import { dataOf, typedDigest } from '../../../client/wallet/abi.ts';
import { identifierHash } from '../../../client/wallet/proof.ts';
import { account2Abi, didRegistry2Abi } from '../../../contracts/abi.ts';
import { initCodeOf as accountCode } from '../../../lib/chain/account.ts';

const keccak256 = (bytes: Uint8Array) => Hash.keccak256(bytes, { as: 'Bytes' });
const ACCOUNT = '0x52908400098527886e0f7030069857d2e4169ee7';
const X = `0x${'a1'.repeat(32)}` as const;
const Y = `0x${'b2'.repeat(32)}` as const;

describe('calls, as ox encodes them', () => {
  test.each([
    ['addKey(uint256,uint256,bytes32)', [X, Y, `0x${'61'.padEnd(64, '0')}`]],
    ['removeKey(uint8,uint256,uint256)', [3n, X, Y]],
    ['nameKey(uint8,bytes32)', [0n, X]],
    ['setGuardian(address,uint32,bytes32)', [ACCOUNT, 259_200n, Y]],
    ['cancelRecovery()', []],
  ] as const)('%s', (signature, args) => {
    const name = signature.split('(')[0] as 'addKey';
    const item = AbiFunction.fromAbi(account2Abi, name);
    const typed = item.inputs.map(({ type }, i) => {
      const value = (args as readonly (string | bigint)[])[i];
      return type.startsWith('uint') ? BigInt(value ?? 0) : value;
    });
    expect(dataOf(keccak256, signature, args)).toBe(AbiFunction.encodeData(item, typed as never));
  });

  test('moveDid, whose last argument is bytes', () => {
    const bytes = `0x${'77'.repeat(33)}` as const;
    const item = AbiFunction.fromAbi(didRegistry2Abi, 'moveDid');
    expect(dataOf(keccak256, 'moveDid(bytes32,uint256,address,bytes)', [X, 0n, ACCOUNT, { bytes }])).toBe(
      AbiFunction.encodeData(item, [X, 0n, ACCOUNT, bytes]),
    );
  });

  test('the digest of a veto is that of typed data', () => {
    const digest = typedDigest(
      keccak256,
      { chainId: 84532, account: ACCOUNT },
      'VetoRecovery(uint32 id,uint256 x,uint256 y)',
      [7n, X, Y],
    );
    const payload = TypedData.getSignPayload({
      domain: { name: 'Vault Account', version: '2', chainId: 84532, verifyingContract: ACCOUNT },
      primaryType: 'VetoRecovery',
      types: {
        VetoRecovery: [
          { name: 'id', type: 'uint32' },
          { name: 'x', type: 'uint256' },
          { name: 'y', type: 'uint256' },
        ],
      },
      message: { id: 7, x: BigInt(X), y: BigInt(Y) },
    });
    expect(Hex.fromBytes(digest)).toBe(payload);
  });

  test('the creation code makes the account that the vault predicts', () => {
    const factory2 = '0xE8Cf0bEaEd678862e854E3E4853E6727403A4aC7';
    const bytecode = initCodeOf(keccak256, { factory2, x: X, y: Y });
    const implementation = ContractAddress.fromCreate({ from: factory2, nonce: 1n });
    const factory = { kind: 2, factory: factory2, implementation } as const;
    expect(bytecode).toBe(accountCode(factory, { x: BigInt(X), y: BigInt(Y), salt: 0n }));
  });
});

describe('the proofs of recovery', () => {
  const attestation = { identifier: 'alice@example.com', channel: 'email', signature: `0x${'5c'.repeat(65)}` } as const;
  const place = {
    config: { chainId: 84532 },
    contracts: { registrar: 'did:web:registrar.example' },
  } as never;

  test('the challenges are those of the HTTP API', () => {
    const signed = Hex.concat(attestation.signature, Hex.fromString('email:alice@example.com'));
    const identifier = identifierHash(keccak256, attestation);
    expect(identifier).toBe(Hash.keccak256(signed));
    const registrar = Hash.keccak256(Hex.fromString('did:web:registrar.example'));
    const types = 'string, bytes32, uint256, address, uint256, uint256, bytes32, bytes32, uint256';
    const head = ['vault/recover/v1', registrar, 84532n, ACCOUNT, BigInt(X), BigInt(Y)];
    const wanted = AbiParameters.encode(AbiParameters.from(types), [...head, X, identifier, 1_800_000_000n] as never);
    const challenge = recoverChallenge(keccak256, place, [ACCOUNT, X, Y, X, identifier, 1_800_000_000n]);
    expect(Hex.fromBytes(challenge)).toBe(Hash.keccak256(wanted));
  });
});

describe('a key made on another device', () => {
  const secret = new Uint8Array(16).fill(7);

  test('the digits differ with secret, account and key', async () => {
    const own = await digitsOf(secret, ACCOUNT, { x: X, y: Y });
    expect(own).toMatch(/^\d{3} \d{3}$/);
    const others = await Promise.all([
      digitsOf(new Uint8Array(16).fill(8), ACCOUNT, { x: X, y: Y }),
      digitsOf(secret, ACCOUNT.replace('5', '6') as never, { x: X, y: Y }),
      digitsOf(secret, ACCOUNT, { x: Y, y: Y }),
      digitsOf(secret, ACCOUNT, { x: X, y: X }),
    ]);
    expect(others).not.toContain(own);
  });

  test('the mailbox’s name is 32 hex digits that do not show the secret', async () => {
    const name = await mailboxOf(secret);
    expect(name).toMatch(/^[0-9a-f]{32}$/);
    expect(name).not.toContain('07070707');
  });
});

describe('texts for people', () => {
  test.each([
    [0, '0:00'],
    [59_001, '1:00'],
    [90_000, '1:30'],
    [600_000, '10:00'],
    [3_600_000, '1:00:00'],
    [86_400_000, '1 day 0:00:00'],
    [2 * 86_400_000 + 3_723_000, '2 days 1:02:03'],
    [-5, '0:00'],
  ])('%i ms left are %s', (ms, text) => expect(left(ms)).toBe(text));

  test('an address is its first six and last four digits; days are counted', () => {
    expect(short(ACCOUNT)).toBe('0x529084…9ee7');
    expect([daysOf(86_400), daysOf(259_200)]).toEqual(['1 day', '3 days']);
  });

  test('a name has at most 31 bytes, and the last byte says whether the key is synced', () => {
    expect([isName(''), isName('a'.repeat(31)), isName('a'.repeat(32)), isName('é'.repeat(16))]).toEqual([
      false,
      true,
      false,
      false,
    ]);
    expect(labelOf('Hi', true)).toBe(`0x${'4869'.padEnd(62, '0')}02`);
    expect(labelOf('Hi', false)).toBe(`0x${'4869'.padEnd(62, '0')}01`);
    expect(labelOf('a'.repeat(40), null)).toBe(`0x${'61'.repeat(31)}00`);
  });
});
