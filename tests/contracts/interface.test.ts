import { describe, expect, test } from 'bun:test';
import { type Abi, AbiEvent, AbiFunction } from 'ox';
import {
  account2Abi,
  accountAbi,
  accountFactory2Abi,
  accountFactoryAbi,
  accountHelperAbi,
  didRegistry2Abi,
  didRegistryAbi,
} from '../../contracts/abi.ts';

const ABIS: Readonly<Record<string, Abi.Abi>> = {
  DIDRegistry: didRegistryAbi,
  DIDRegistry2: didRegistry2Abi,
  AccountFactory: accountFactoryAbi,
  Account: accountAbi,
  AccountHelper: accountHelperAbi,
  AccountFactory2: accountFactory2Abi,
  Account2: account2Abi,
};

// What clients and indexers were built against: a selector or topic that changes here breaks them.
const IN_BOTH_REGISTRIES = {
  'register(bytes32,bytes32,string)': '0x0e5ceb47',
  'update(bytes32,string)': '0xdd5b64de',
  'deactivate(bytes32)': '0x22eee84c',
  'resolve(bytes32)': '0x5c23bdf5',
  'resolveAlias(bytes32)': '0x0c81e27a',
  'aliases(bytes32)': '0xe7511873',
  'controllerToDid(address)': '0x004bdd8b',
  'setRegistrar(address,bool)': '0xc1bf1dcf',
  'transferOwnership(address)': '0xf2fde38b',
};

const SELECTORS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  DIDRegistry: { ...IN_BOTH_REGISTRIES, 'registerFor(address,bytes32,bytes32,string)': '0xd43af7bd' },
  DIDRegistry2: {
    ...IN_BOTH_REGISTRIES,
    'registerSelf(bytes32,string)': '0x6d31e582',
    'registerFor(address,bytes32,bytes32,(bytes32,bytes32,bytes32,uint256,uint256,uint256,address,bytes,bytes,bytes32))':
      '0xf704b071',
    'claimDid(bytes32,bytes32,bytes32,string)': '0x3be52cf2',
    'voidOwn(bytes32)': '0x18b4b7cc',
    'legacyUntil()': '0xb34f3edb',
    'registrarOf(bytes32)': '0x62f15203',
    'offerDid(bytes32,address)': '0xd585db95',
    'acceptDid(bytes32)': '0x7d353061',
    'moveDid(bytes32,uint256,address,bytes)': '0xccc850bf',
    'commitAlias(bytes32)': '0xa2035f45',
    'claimAlias(bytes32,bytes32)': '0x8786ca65',
    'pointAlias(bytes32)': '0x010016fe',
    'freeAlias(bytes32)': '0x15802fdd',
    'aliasStatus(bytes32)': '0x4713ed76',
    'isRightful(bytes32)': '0x70aacb59',
    'version()': '0x54fd4d50',
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
  AccountFactory2: {
    'createAccount(uint256,uint256,uint256)': '0x4c1ed7f5',
    'getAddress(uint256,uint256,uint256)': '0xe81b22ea',
    'implementation()': '0x5c60da1b',
  },
  Account2: {
    'addKey(uint256,uint256,bytes32)': '0xff0e1e43',
    'cancelRecovery()': '0x0ba234d6',
    'eip712Domain()': '0x84b0196e',
    'entryPoint()': '0xb0d691fe',
    'execute(address,uint256,bytes)': '0xb61d27f6',
    'execute(bytes32,bytes)': '0xe9ae5c53',
    'executeBatch((address,uint256,bytes)[])': '0x34fcd5be',
    'finishRecovery()': '0xc7423803',
    'getGuardian()': '0xa75b87d2',
    'getKeys()': '0x2150c518',
    'getNonce()': '0xd087d288',
    'getOwner()': '0x893d20e8',
    'getRecovery()': '0x706f7658',
    'isKey(uint256,uint256)': '0x47df8b82',
    'isValidSignature(bytes32,bytes)': '0x1626ba7e',
    'nameKey(uint8,bytes32)': '0x4d2df66c',
    'operationDigest(bytes32,uint48)': '0xdf15727e',
    'proposeRecovery(uint256,uint256,bytes32,bytes32)': '0x8f80db03',
    'proxiableUUID()': '0x52d1902d',
    'removeKey(uint8,uint256,uint256)': '0xad2f5ce2',
    'setGuardian(address,uint32,bytes32)': '0x384d8fe3',
    'supportsExecutionMode(bytes32)': '0xd03c7914',
    'upgradeToAndCall(address,bytes)': '0x4f1ef286',
    'validateUserOp((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes),bytes32,uint256)': '0x19822f7c',
    'version()': '0x54fd4d50',
    'vetoRecovery(bytes)': '0x04da66d8',
  },
};

const EVENTS_OF_BOTH_REGISTRIES = {
  'DIDRegistered(bytes32 indexed didHash, address indexed controller, string metadataCid)':
    '0x3d34a9edac1831cc11a06bc2728e2d1c6542a5d8a4dff2ae70720a4f8bbab31b',
  'AliasRegistered(bytes32 indexed aliasHash, bytes32 indexed didHash)':
    '0xf2300ac74877b80894bcff5054b5f6a878a22d38b5693e287fa09e696ad39211',
  'DIDUpdated(bytes32 indexed didHash, string metadataCid)':
    '0xf6d9d269aff3ef8d7ee369cdb4e3c871f01275acf1ed09bc93ee73fd5a5f64a4',
  'DIDDeactivated(bytes32 indexed didHash)': '0x404dc1dccead5da2c213f41d3918422c627160231296d3f7f50339c881d24fd9',
};

const TOPICS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  DIDRegistry: EVENTS_OF_BOTH_REGISTRIES,
  DIDRegistry2: {
    ...EVENTS_OF_BOTH_REGISTRIES,
    'RegisteredBy(bytes32 indexed didHash, address indexed registrar)':
      '0x653cc90a8e3e6b9d56b89fd26662ff9319b253860eb5113f92b0ff0e7893c4c8',
    'DIDMoved(bytes32 indexed didHash, address indexed from, address indexed to)':
      '0x6f2fd6934508b6f5e6b657bb94447e1fa939936d90eb1d95bb1c0f2c054333a1',
    'AliasFreed(bytes32 indexed aliasHash)': '0x569a90c50b3af8554b310cc3e2cceb3dbf454673d56187e8d931580ae8c761f4',
    'AliasCommitted(bytes32 indexed commitment)': '0x5a0f1bc745e4c4a1f3cf854c444d0f3ce84568251f0127d07cbc5115a9e8242d',
  },
  AccountFactory: {
    'AccountCreated(address indexed account, address indexed owner)':
      '0xac631f3001b55ea1509cf3d7e74898f85392a61a76e8149181ae1259622dabc8',
  },
  AccountFactory2: {
    'AccountCreated(address indexed account, address indexed owner)':
      '0xac631f3001b55ea1509cf3d7e74898f85392a61a76e8149181ae1259622dabc8',
  },
  Account2: {
    'GuardianBarred(uint40 until)': '0xc4fcd64ca05b10eb622beeec80ba8e35fee308fad13e026beca14f60d03aac21',
    'GuardianSet(address indexed guardian, uint32 delay, bytes32 commitment)':
      '0x647021871fce8d0aa9d570209fc4412f66774a061a09a24770fc4dc5d10e7330',
    'KeyAdded(uint256 indexed x, uint256 y, uint8 index, bytes32 label)':
      '0x69ba43af323f3a69fd3f28658c568065ae6fe9f20bf2f5d0ef8603259a392082',
    'KeyNamed(uint8 index, bytes32 label)': '0xc6bdcf9d357db296420ca1a00ed5d3fc9488a3a245d2bb1ea3e03bed4da13167',
    'KeyRemoved(uint256 indexed x, uint256 y, uint8 index)':
      '0x9121d9d69abaa032ca71ab2e1381e05aaa269cee7b2da7aecdeb9bb04eb940b7',
    'RecoveryCancelled(uint32 indexed id)': '0xdf8aa1927c1c58300242ba4bb6ef5cf1e86441979f6caa9c1b68e8fcf06406ca',
    'RecoveryFinished(uint32 indexed id, uint256 x, uint256 y)':
      '0xc4ad566ef82bf93d51c467253ca519a5f9e2b94f6d5f070679aeb59cd5784eae',
    'RecoveryProposed(uint32 indexed id, address indexed guardian, uint256 x, uint256 y, uint40 readyAt)':
      '0x6615989fafa53e941a205146cfc318199e4fb7952669e442e358ae30e3639737',
    'RecoveryVetoed(uint32 indexed id, uint8 vetoes)':
      '0xb73d85cde6ddbbb555aad6cc399f1d5abb0c3aceb3afdd83d5a5e4c7c76374f2',
    'SignedBy(uint256 indexed x, bytes32 subject)':
      '0x7c590aada5eda08584890fcea9777151d652de39a84a4a839cf79e491323e964',
    'Upgraded(address indexed implementation)': '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b',
  },
};

const OUTPUTS = [
  ['AccountFactory', 'createAccount', '(address)'],
  ['AccountFactory', 'getAddress', '(address)'],
  ['Account', 'getOwner', '(uint256 x, uint256 y)'],
  ['Account2', 'getOwner', '(uint256 x, uint256 y)'],
  ['Account2', 'isKey', '(bool)'],
  ['Account2', 'getGuardian', '(address guardian, uint32 delay, bytes32 commitment, uint8 vetoes, uint40 barredUntil)'],
  ['Account2', 'getRecovery', '(uint32 id, uint256 x, uint256 y, uint40 readyAt, bytes32 label)'],
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
