import { describe, expect, test } from 'bun:test';
import { AbiParameters, Base64, Bytes, Hash, Hex, Signature } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import { aliasHash, didHash } from '../../../lib/identity/did.ts';
import { encodeAssertion } from '../../../scripts/dev-stack/user-operation.ts';
import { type Draw, manyTimes } from '../../support/draw.ts';
import { openEnclave, REFUSED } from '../../support/enclave.ts';
import { isLong } from '../../support/long.ts';
import { createPasskey } from '../../support/passkey.ts';

const DRAWS = isLong ? 10_000 : 1_000;

const { call, put, get } = openEnclave();
const OUT = 6000;

describe('names', () => {
  const hashed = (name: 'alias_hash' | 'did_hash', text: string) => {
    const utf8 = new TextEncoder().encode(text);
    call[name](put(0, utf8), utf8.length, OUT);
    return Hex.fromBytes(get(OUT, 32));
  };

  test('an alias as published clients put it on-chain', () => {
    expect(hashed('alias_hash', 'alice')).toBe('0xde33a594f790944d1951e9c14e0889a38ebe41fc7d52787426fa31071bd1c4bc');
    expect(hashed('did_hash', 'alice')).toBe('0x9c0257114eb9399a2985f8e75dad7600c5d89fe3824ffa99ec1c3eb8bf3b0501');
  });

  test(`${DRAWS} draws as the server and as ox`, () => {
    manyTimes(DRAWS, (draw) => {
      const text = String.fromCodePoint(...Array.from({ length: draw.below(60) }, () => draw.below(0xd800)));
      const ofHex = Hash.keccak256(Bytes.fromString(Hex.fromString(text).slice(2)), { as: 'Hex' });
      expect([hashed('alias_hash', text), aliasHash(text)]).toEqual([ofHex, ofHex]);
      const ofText = Hash.keccak256(Bytes.fromString(text), { as: 'Hex' });
      expect([hashed('did_hash', text), didHash(text)]).toEqual([ofText, ofText]);
    });
  });

  test('names as long as the window', () => {
    const long = 'é'.repeat(3000);
    expect([hashed('alias_hash', long), hashed('did_hash', long)]).toEqual([aliasHash(long), didHash(long)]);
  });
});

describe('user operations', () => {
  type Version = '0.7' | '0.8';
  type Operation = UserOperation.UserOperation<'0.7', true>;

  const hexOf = (draw: Draw, most: number) => Hex.fromBytes(draw.upTo(most));
  const address = (draw: Draw) => Hex.fromBytes(draw.bytes(20));

  function drawOperation(draw: Draw): Operation {
    const paymaster = {
      paymaster: address(draw),
      paymasterVerificationGasLimit: draw.bits(128),
      paymasterPostOpGasLimit: draw.bits(128),
      paymasterData: hexOf(draw, 100),
    };
    return {
      sender: address(draw),
      nonce: draw.bits(256),
      callData: hexOf(draw, 300),
      callGasLimit: draw.bits(128),
      verificationGasLimit: draw.bits(128),
      preVerificationGas: draw.bits(256),
      maxFeePerGas: draw.bits(128),
      maxPriorityFeePerGas: draw.bits(128),
      signature: '0x',
      // An empty factoryData: ox takes that for no factory with v0.7, the EntryPoint does not.
      ...(draw.below(2) ? { factory: address(draw), factoryData: Hex.fromBytes(draw.bytes(1 + draw.below(100))) } : {}),
      ...(draw.below(2) ? paymaster : {}),
    };
  }

  /** The fields of an operation as the header of the enclave's source lists them, and its three parts of any length. */
  function layOut(operation: Operation, entryPoint: Hex.Hex, chainId: number) {
    const packed = UserOperation.toPacked(operation);
    const fields = Hex.concat(
      packed.sender,
      Hex.fromNumber(packed.nonce, { size: 32 }),
      packed.accountGasLimits,
      Hex.fromNumber(packed.preVerificationGas, { size: 32 }),
      packed.gasFees,
      entryPoint,
      Hex.fromNumber(chainId, { size: 32 }),
    );
    const parts = [packed.initCode, packed.callData, packed.paymasterAndData].map((part) => Hex.toBytes(part));
    return { fields: Hex.toBytes(fields), parts };
  }

  function hashes(operation: Operation, entryPoint: Hex.Hex, chainId: number, version: Version) {
    const name = version === '0.7' ? 'userop_hash_v07' : 'userop_hash_v08';
    const { fields, parts } = layOut(operation, entryPoint, chainId);
    let next = put(0, fields) + fields.length;
    const ranges = parts.flatMap((part) => {
      const at = put(next, part);
      next += part.length;
      return [at, part.length];
    });
    call[name](0, ...ranges, OUT);
    const whole = Hex.fromBytes(get(OUT, 32));
    put(1000, Buffer.concat(parts.map((part) => Hash.keccak256(part))));
    call[`${name}_of`](0, 1000, OUT);
    return [whole, Hex.fromBytes(get(OUT, 32))];
  }

  test.each(['0.7', '0.8'] as const)(`${DRAWS} draws as ox for EntryPoint v%s`, (entryPointVersion) => {
    manyTimes(DRAWS, (draw) => {
      const [operation, entryPointAddress, chainId] = [drawOperation(draw), address(draw), draw.below(2 ** 31)];
      const want = UserOperation.hash(operation, { chainId, entryPointAddress, entryPointVersion });
      expect(hashes(operation, entryPointAddress, chainId, entryPointVersion)).toEqual([want, want]);
    });
  });

  test('an output may overlap the fields', () => {
    const operation = drawOperation({
      below: () => 0,
      bytes: (n) => new Uint8Array(n),
      upTo: () => new Uint8Array(3),
      bits: () => 7n,
    });
    const entryPoint: Hex.Hex = `0x${'11'.repeat(20)}`;
    const [want] = hashes(operation, entryPoint, 1, '0.8');
    put(0, layOut(operation, entryPoint, 1).fields);
    call.userop_hash_v08_of(0, 1000, 40);
    expect(Hex.fromBytes(get(40, 32))).toBe(want ?? '0x');
  });
});

describe('WebAuthn assertions', () => {
  const AUTH = AbiParameters.from([
    'struct WebAuthnAuth { bytes32 r; bytes32 s; uint256 challengeIndex; uint256 typeIndex; bytes authenticatorData; string clientDataJSON; }',
    'WebAuthnAuth auth',
  ]);

  function pack(authenticator: Uint8Array, client: Uint8Array, signature: Uint8Array): Hex.Hex | number {
    put(0, authenticator);
    put(1500, client);
    const n = call.webauthn_pack(0, authenticator.length, 1500, client.length, put(4000, signature), 4100);
    return n < 0 ? n : Hex.fromBytes(get(4100, n));
  }

  test('of a passkey as the wallet of the local world encodes them', () => {
    const passkey = createPasskey();
    for (let i = 0; i < 50; i++) {
      const assertion = passkey.assert(Hash.keccak256(new Uint8Array([i])));
      const der = Base64.toBytes(assertion.signature);
      call.der_to_raw(put(0, der), der.length, 4000);
      const client = Base64.toBytes(assertion.clientDataJSON);
      expect(pack(Base64.toBytes(assertion.authenticatorData), client, get(4000, 64))).toBe(encodeAssertion(assertion));
      const { r, s } = Signature.fromDerBytes(der);
      const raw = Hex.toBytes(
        Hex.concat(Hex.fromNumber(BigInt(r), { size: 32 }), Hex.fromNumber(BigInt(s), { size: 32 })),
      );
      expect(pack(Base64.toBytes(assertion.authenticatorData), client, raw)).toBe(encodeAssertion(assertion));
    }
  });

  test(`${DRAWS} draws as ox encodes them`, () => {
    manyTimes(DRAWS, (draw) => {
      const [authenticatorData, word] = [draw.bytes(37 + draw.below(100)), () => draw.bytes(32).fill(0x11, 0, 1)];
      const pairs = ['"type":"webauthn.get"', '"challenge":"abc"', `"more":"${draw.below(10 ** 6)}"`];
      const clientDataJSON = `{${pairs.sort(() => draw.below(3) - 1).join(',')}}`;
      const [r, s] = [Hex.fromBytes(word()), Hex.fromBytes(word())];
      const [challengeIndex, typeIndex] = ['"challenge"', '"type"'].map((name) => BigInt(clientDataJSON.indexOf(name)));
      const auth = {
        r,
        s,
        challengeIndex,
        typeIndex,
        authenticatorData: Hex.fromBytes(authenticatorData),
        clientDataJSON,
      };
      const want = Hex.slice(AbiParameters.encode(AUTH, [auth as never]), 32);
      expect(pack(authenticatorData, Bytes.fromString(clientDataJSON), Hex.toBytes(Hex.concat(r, s)))).toBe(want);
    });
  });

  const AUTHENTICATOR = new Uint8Array(37);
  const CLIENT = Bytes.fromString('{"type":"webauthn.get","challenge":"abc"}');
  const SIGNATURE = new Uint8Array(64).fill(0x11);
  test.each([
    ['short authenticator data', AUTHENTICATOR.subarray(1), CLIENT, SIGNATURE, REFUSED.length],
    [
      'client data without a type',
      AUTHENTICATOR,
      Bytes.fromString('{"challenge":"abc"}'),
      SIGNATURE,
      REFUSED.malformed,
    ],
    ['client data without a challenge', AUTHENTICATOR, Bytes.fromString('{"type":"x"}'), SIGNATURE, REFUSED.malformed],
    [
      'client data of a registration',
      AUTHENTICATOR,
      Bytes.fromString('{"type":"webauthn.create","challenge":"abc"}'),
      SIGNATURE,
      REFUSED.malformed,
    ],
    ['client data that breaks off', AUTHENTICATOR, CLIENT.subarray(0, 32), SIGNATURE, REFUSED.malformed],
    ['no client data', AUTHENTICATOR, new Uint8Array(), SIGNATURE, REFUSED.malformed],
    ['a signature of zeros', AUTHENTICATOR, CLIENT, new Uint8Array(64), REFUSED.malformed],
    ['a signature beyond the order', AUTHENTICATOR, CLIENT, new Uint8Array(64).fill(0xff), REFUSED.malformed],
  ])('%s is refused', (_name, authenticator, client, signature, error) => {
    expect(pack(authenticator, client, signature)).toBe(error);
  });

  test('it points at the members themselves, wherever their names stand else', () => {
    const decoys = '{"challenge":7,"hint":"type","note":"challenge","said":"\\"challenge\\":\\"x","kind":{"type":"x"},';
    const packed = pack(
      AUTHENTICATOR,
      Bytes.fromString(`${decoys}${new TextDecoder().decode(CLIENT).slice(1)}`),
      SIGNATURE,
    );
    const at = (word: number) => Number(Hex.slice(packed as Hex.Hex, 32 * word, 32 * word + 32));
    expect([at(2), at(3)]).toEqual([decoys.length + 22, decoys.length]);
  });

  test('it traps where the output would overwrite what is packed', () => {
    put(0, AUTHENTICATOR);
    put(100, CLIENT);
    put(200, SIGNATURE);
    expect(() => call.webauthn_pack(0, 37, 100, CLIENT.length, 200, 20)).toThrow(WebAssembly.RuntimeError);
    expect(() => call.webauthn_pack(0, 37, 1000, CLIENT.length, 200, 900)).toThrow(WebAssembly.RuntimeError);
    expect(call.webauthn_pack(0, 37, 100, CLIENT.length, 200, 200)).toBe(256 + 64 + 64);
  });
});
