import { bytesOf, fixed, join, number, utf8 } from './bytes.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** An account of this project, whether it exists yet or not. */
export interface MessageAccount {
  /** 1 for `Account`, 2 for `Account2`. */
  readonly kind: 1 | 2;
  /** 0x-hex. */
  readonly address: string;
  readonly chainId: number | bigint;
}

/** Typed data (EIP-712) as its parts; any EIP-712 library computes them. */
export interface TypedMessage {
  /** The hash of the application's domain. */
  readonly domainSeparator: Uint8Array;
  /** `hashStruct` of the message. */
  readonly contents: Uint8Array;
  /** `encodeType` of the message: its type, then those it refers to, such as `Mail(Person to)Person(string name)`. */
  readonly type: string;
}

/**
 * The digest that a key of an account signs for a message, and its signature as ERC-1271 takes it
 * (`docs/contracts.md`).
 */
export function createMessages(hash: (bytes: Uint8Array) => Bytes) {
  const keccak256 = (...parts: readonly Uint8Array[]): Bytes => hash(join(parts));
  const hashText = (text: string): Bytes => keccak256(utf8(text));
  /** The members of an account's domain, all but the salt. */
  const domainOf = ({ kind, address, chainId }: MessageAccount): Bytes =>
    join([hashText('Vault Account'), hashText(`${kind}`), number(BigInt(chainId), 32), addressWord(address)]);
  const digestOf = (domainSeparator: Uint8Array, struct: Uint8Array): Bytes =>
    keccak256(Uint8Array.of(0x19, 0x01), fixed(domainSeparator, 32), struct);
  /** The digest of a struct with one word, in the account's own domain. */
  const ownDigest = (account: MessageAccount, type: string, word: Uint8Array): Bytes =>
    digestOf(keccak256(hashText(DOMAIN_TYPE), domainOf(account)), keccak256(hashText(type), fixed(word, 32)));
  const hashDigest = (account: MessageAccount, given: Uint8Array): Bytes =>
    ownDigest(account, account.kind === 1 ? 'VaultMessage(bytes32 hash)' : 'PersonalSign(bytes prefixed)', given);
  return {
    /** The hash of a text or of bytes that a wallet signs (EIP-191, `personal_sign`; Sign-In with Ethereum too). */
    messageHash(message: string | Uint8Array): Bytes {
      const bytes = typeof message === 'string' ? utf8(message) : message;
      return keccak256(utf8(`\x19Ethereum Signed Message:\n${bytes.length}`), bytes);
    },
    /** The digest that a key signs so that its account vouches for a hash (ERC-1271): of a text its `messageHash`. */
    hashDigest,
    /** The hash of typed data, which `isValidSignature` takes. */
    typedDataHash: ({ domainSeparator, contents }: TypedMessage): Bytes =>
      digestOf(domainSeparator, fixed(contents, 32)),
    /** The digest that a key signs so that its account vouches for typed data. */
    typedDataDigest(account: MessageAccount, typed: TypedMessage): Bytes {
      const { domainSeparator, contents } = typed;
      if (account.kind === 1) return hashDigest(account, digestOf(domainSeparator, fixed(contents, 32)));
      const [name, types] = sortedTypes(typed.type);
      const type = hashText(`TypedDataSign(${name} contents,${NESTED_MEMBERS})${types}`);
      return digestOf(domainSeparator, keccak256(type, fixed(contents, 32), domainOf(account), new Uint8Array(32)));
    },
    /**
     * The signature that the account takes: `signed` is a packed assertion of a passkey, or r ‖ s ‖ v of an address;
     * `index` the key's place in an account of kind 2, `typed` what was signed if it was typed data.
     */
    accountSignature(
      { kind }: Pick<MessageAccount, 'kind'>,
      signed: Uint8Array,
      { index = 0, typed }: { readonly index?: number; readonly typed?: TypedMessage } = {},
    ): Bytes {
      if (kind === 1) return join([signed]);
      return join([number(BigInt(index), 1), signed, typed ? nestingOf(typed) : NONE]);
    },
    /** The signature of an account that does not exist yet (ERC-6492): with the call that creates it. */
    undeployedSignature(factory: string, factoryData: string, signature: Uint8Array): Bytes {
      const [data, word] = [bytesOf(factoryData), (value: number) => number(BigInt(value), 32)];
      const head = [addressWord(factory), word(96), word(128 + roundUp(data.length))];
      const tail = [word(data.length), padded(data), word(signature.length), padded(signature)];
      return join([...head, ...tail, MAGIC_6492]);
    },
  };
}

/** The members of domains here, as EIP-712 writes them. */
export const DOMAIN_TYPE = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';
const NESTED_MEMBERS = 'string name,string version,uint256 chainId,address verifyingContract,bytes32 salt';
/** ERC-6492: the end of a signature that carries a creation. */
const MAGIC_6492 = bytesOf(`0x${'6492'.repeat(16)}`);
const NONE = new Uint8Array();

/** An address as a word. */
export function addressWord(address: string): Bytes {
  return join([new Uint8Array(12), fixed(bytesOf(address), 20)]);
}

/**
 * The name of the type, and all types in the order of EIP-712, in which those that a type refers to are sorted. Throws
 * a `TypeError` for anything else.
 */
function sortedTypes(type: string): readonly [name: string, types: string] {
  const all = type.match(/[^()]+\([^()]*\)/g) ?? [];
  const name = type.slice(0, Math.max(0, type.indexOf('(')));
  if (all.join('') !== type || name === '') throw new TypeError('expected types as encodeType of EIP-712 has them');
  return [name, all.sort().join('')];
}

/** The suffix of ERC-7739 to the signature of typed data; it has the name only if the first type has another. */
function nestingOf({ domainSeparator, contents, type }: TypedMessage): Bytes {
  const [name, types] = sortedTypes(type);
  const description = utf8(types.startsWith(`${name}(`) ? types : types + name);
  return join([domainSeparator, contents, description, number(BigInt(description.length), 2)]);
}

function padded(bytes: Uint8Array): Bytes {
  return join([bytes, new Uint8Array(roundUp(bytes.length) - bytes.length)]);
}

function roundUp(length: number): number {
  return Math.ceil(length / 32) * 32;
}
