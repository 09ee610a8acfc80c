// The second account verifies assertions by code of its own, which must take what OpenZeppelin's takes, in its length.
import { expect, test } from 'bun:test';
import { AbiFunction, Hex } from 'ox';
import { compileContracts } from '../../../scripts/contracts.ts';
import { passkeySigner } from '../../../scripts/dev-stack/account2.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import { encodeAssertion } from '../../../scripts/dev-stack/user-operation.ts';
import { type Draw, manyTimes } from '../../support/draw.ts';
import { openSmallChain } from '../../support/evm/chain.ts';
import { toWord } from '../../support/evm/machine.ts';
import { isLong } from '../../support/long.ts';

const RUNS = isLong ? 20_000 : 300;
const WORD = 32;
/** The head's words: r, s, two indexes, two offsets. */
const HEAD = 6;

const { Assertions } = await compileContracts();
const chain = openSmallChain(1n);
const address = chain.deploy(Hex.toBytes(Assertions?.bytecode ?? '0x'));
const passkey = createPasskey();
const { x, y } = passkeySigner(passkey);

test(`of ${RUNS} assertions, good and changed, both take the same ones`, () => {
  const found = { taken: 0, refused: 0 };
  manyTimes(RUNS, (draw) => {
    const challenge = draw.bytes(WORD);
    const ceremony = {
      flags: draw.below(2) ? 0x1d : draw.below(256),
      clientData: draw.below(2) ? {} : { more: 'challenge' },
    };
    const assertion = Hex.toBytes(encodeAssertion(passkey.assert(challenge, ceremony)));
    const changed = change(draw, assertion);
    const [own, theirs] = [answer('own', challenge, changed), answer('openZeppelin', challenge, changed)];
    const expected = theirs && isExact(changed);
    expect({ own, changed: Hex.fromBytes(changed) }).toEqual({ own: expected, changed: Hex.fromBytes(changed) });
    found[own ? 'taken' : 'refused']++;
  });
  expect(Math.min(found.taken, found.refused)).toBeGreaterThan(RUNS / 20);
});

test('30,000 bytes behind an assertion, which nobody signed, are refused (A11)', () => {
  const challenge = new Uint8Array(WORD).fill(1);
  const assertion = Hex.toBytes(encodeAssertion(passkey.assert(challenge)));
  expect(answer('own', challenge, assertion)).toBe(true);
  for (const bytes of [1, WORD, 30_000])
    expect(answer('own', challenge, Buffer.concat([assertion, new Uint8Array(bytes)]))).toBe(false);
});

/** Whether nothing is behind the two texts that the offsets in the head lead to. */
function isExact(assertion: Uint8Array): boolean {
  const lengths = [4, 5].map((offset) => Number(word(assertion, word(assertion, BigInt(WORD * offset)))));
  const padded = lengths.reduce((sum, length) => sum + Math.ceil(length / WORD) * WORD, 0);
  return assertion.length === WORD * (HEAD + 2) + padded;
}

function word(bytes: Uint8Array, at: bigint): bigint {
  return toWord(bytes.subarray(Number(at), Number(at) + WORD));
}

/** The same bytes, a few others, other numbers in the head, or another length. */
function change(draw: Draw, assertion: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(assertion);
  const kind = draw.below(6);
  if (kind === 1) bytes[draw.below(bytes.length)] = draw.below(256);
  if (kind === 2) bytes[WORD * (1 + draw.below(HEAD)) - 1] = draw.below(256);
  if (kind === 3) bytes.fill(draw.below(2) ? 0xff : 0, WORD * draw.below(HEAD), WORD * (1 + draw.below(HEAD)));
  if (kind === 4) return bytes.subarray(0, draw.below(bytes.length));
  if (kind === 5) return Buffer.concat([bytes, draw.upTo(64)]);
  return bytes;
}

/** A revert is a refusal. */
function answer(name: 'own' | 'openZeppelin', challenge: Uint8Array, assertion: Uint8Array): boolean {
  const item = AbiFunction.from(`function ${name}(bytes32, uint256, uint256, bytes) view returns (bool)`);
  const data = AbiFunction.encodeData(item, [Hex.fromBytes(challenge), x, y, Hex.fromBytes(assertion)]);
  const { ok, data: result } = chain.call(1n, address, Hex.toBytes(data));
  return ok && toWord(result) === 1n;
}
