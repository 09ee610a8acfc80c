import { describe, expect, test } from 'bun:test';
import { type Abi, AbiEvent, AbiFunction } from 'ox';
import { accountAbi, accountFactoryAbi, accountHelperAbi, didRegistryAbi } from '../../lib/chain/abi.ts';

const ABIS: Readonly<Record<string, Abi.Abi>> = {
  DIDRegistry: didRegistryAbi,
  AccountFactory: accountFactoryAbi,
  Account: accountAbi,
  AccountHelper: accountHelperAbi,
};

// What clients and indexers were built against: a selector or topic that changes here breaks them.
const SELECTORS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  DIDRegistry: {
    'register(bytes32,bytes32,string)': '0x0e5ceb47',
    'registerFor(address,bytes32,bytes32,string)': '0xd43af7bd',
    'update(bytes32,string)': '0xdd5b64de',
    'deactivate(bytes32)': '0x22eee84c',
    'resolve(bytes32)': '0x5c23bdf5',
    'resolveAlias(bytes32)': '0x0c81e27a',
    'aliases(bytes32)': '0xe7511873',
    'controllerToDid(address)': '0x004bdd8b',
    'setRegistrar(address,bool)': '0xc1bf1dcf',
    'transferOwnership(address)': '0xf2fde38b',
  },
  AccountFactory: {
    'createAccount(uint256,uint256,uint256)': '0x4c1ed7f5',
    'getAddress(uint256,uint256,uint256)': '0xe81b22ea',
    'implementation()': '0x5c60da1b',
  },
  Account: {
    'execute(address,uint256,bytes)': '0xb61d27f6',
    'executeBatch((address,uint256,bytes)[])': '0x34fcd5be',
    'getNonce()': '0xd087d288',
    'getOwner()': '0x893d20e8',
    'entryPoint()': '0xb0d691fe',
    'isValidSignature(bytes32,bytes)': '0x1626ba7e',
    'replaySafeHash(bytes32)': '0xce1506be',
    'validateUserOp((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes),bytes32,uint256)': '0x19822f7c',
  },
  AccountHelper: { 'getAccountState(address)': '0x9ee2735b' },
};

const TOPICS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  DIDRegistry: {
    'DIDRegistered(bytes32 indexed didHash, address indexed controller, string metadataCid)':
      '0x3d34a9edac1831cc11a06bc2728e2d1c6542a5d8a4dff2ae70720a4f8bbab31b',
    'AliasRegistered(bytes32 indexed aliasHash, bytes32 indexed didHash)':
      '0xf2300ac74877b80894bcff5054b5f6a878a22d38b5693e287fa09e696ad39211',
    'DIDUpdated(bytes32 indexed didHash, string metadataCid)':
      '0xf6d9d269aff3ef8d7ee369cdb4e3c871f01275acf1ed09bc93ee73fd5a5f64a4',
    'DIDDeactivated(bytes32 indexed didHash)': '0x404dc1dccead5da2c213f41d3918422c627160231296d3f7f50339c881d24fd9',
  },
  AccountFactory: {
    'AccountCreated(address indexed account, address indexed owner)':
      '0xac631f3001b55ea1509cf3d7e74898f85392a61a76e8149181ae1259622dabc8',
  },
};

const OUTPUTS = [
  ['AccountFactory', 'createAccount', '(address)'],
  ['AccountFactory', 'getAddress', '(address)'],
  ['Account', 'getOwner', '(uint256 x, uint256 y)'],
  ['AccountHelper', 'getAccountState', '(uint256 nonce, bytes32 did, bool isActive, uint256[2] pubKey)'],
  ['DIDRegistry', 'resolve', '(address controller, uint256 created, uint256 updated, string metadataCid, bool active)'],
] as const;

describe.each(Object.entries(ABIS))('%s', (name, abi) => {
  test.each(Object.entries(SELECTORS[name] ?? {}))('%s is %s', (signature, selector) => {
    const own = abi.filter((entry) => entry.type === 'function');
    const signatures = own.map((entry) => `${entry.name}(${entry.inputs.map(typeOf).join(',')})`);
    expect(signatures).toContain(signature);
    const item = own[signatures.indexOf(signature)] as AbiFunction.AbiFunction;
    expect(AbiFunction.getSelector(item) as string).toBe(selector);
  });

  test.each(Object.entries(TOPICS[name] ?? {}))('event %s is %s', (signature, topic) => {
    const events = abi.filter((entry) => entry.type === 'event');
    const own = events.find((entry) => AbiEvent.format(entry) === `event ${signature}`);
    expect(AbiEvent.getSelector(own as AbiEvent.AbiEvent) as string).toBe(topic);
  });
});

test.each(OUTPUTS)('%s %s answers %s', (name, of, outputs) => {
  const item = AbiFunction.fromAbi(ABIS[name] ?? [], of) as AbiFunction.AbiFunction;
  const found = item.outputs.map(({ type, name: own }) => [type, own].filter(Boolean).join(' ')).join(', ');
  expect(`(${found.replace(/^address account$/, 'address')})`).toBe(outputs);
});

/** A parameter's type with the parts of tuples spelt out. */
function typeOf(parameter: Readonly<{ type: string; components?: readonly { type: string }[] }>): string {
  const { type, components } = parameter;
  return components ? type.replace('tuple', `(${components.map(typeOf).join(',')})`) : type;
}
