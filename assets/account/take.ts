// Everything that it takes to use the account without this vault, as one file.
import { factoryOf } from '../../client/wallet/account.ts';
import { keysOf, type Signed } from './home.ts';
import { save } from './save.ts';
import { element, onPress, show, write } from './view.ts';

/** Shows the file, and saves it. */
export function take(signed: Signed): void {
  const text = JSON.stringify(fileOf(signed), null, 2);
  write('take-chain', signed.config.chain);
  write('take-text', text);
  element('take-hint').hidden = signed.account.kind === 1 || keysOf(signed).some(({ isAddress }) => isAddress);
  element('take-add').hidden = signed.account.kind === 1;
  onPress('take-save', () =>
    save(text, `vault-account-${signed.account.address.slice(0, 10)}.json`, 'application/json'),
  );
  onPress('take-add', () => {
    location.hash = 'address';
  });
  show('take');
}

/** The file. Nothing in it is secret: all of it is public on the network. */
export function fileOf(signed: Signed): object {
  const { account, config, contracts, facts } = signed;
  const isSecond = account.kind === 2;
  // The address follows from the first key. Once that was removed, the account does not show it.
  const first = keysOf(signed).find(({ index }) => index === 0);
  const firstKey = first ? { x: first.x, y: first.y } : null;
  return {
    what: 'All that it takes to use this smart account without the vault that made it. Nothing here is secret.',
    chainId: config.chainId,
    chain: config.chain,
    account: account.address,
    isDeployed: facts.kind !== null,
    entryPoint: config.entryPoint,
    factory: factoryOf(config, account.kind) ?? null,
    createdBy: firstKey && { call: 'createAccount(uint256 x, uint256 y, uint256 salt)', ...firstKey, salt: '0' },
    didRegistry: contracts.registry,
    did: facts.did,
    rpId: config.rpId,
    keys: keysOf(signed).map(({ index, x, y, name, isAddress }) => ({
      index,
      kind: isAddress ? 'Ethereum address (x)' : 'passkey (P-256)',
      x,
      y,
      name,
    })),
    guardian: facts.guardian,
    abi: isSecond ? [...ABI_BOTH, ...ABI_SECOND] : ABI_BOTH,
    howTo: isSecond ? HOW_SECOND : HOW_FIRST,
  };
}

const ABI_BOTH = [
  'function execute(address target, uint256 value, bytes data)',
  'function executeBatch((address target, uint256 value, bytes data)[] calls)',
  'function entryPoint() view returns (address)',
  'function getOwner() view returns (uint256 x, uint256 y)',
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
];

const ABI_SECOND = [
  'function addKey(uint256 x, uint256 y, bytes32 label)',
  'function removeKey(uint8 index, uint256 x, uint256 y)',
  'function nameKey(uint8 index, bytes32 label)',
  'function getKeys() view returns ((uint8 index, uint256 x, uint256 y, uint40 addedAt, bytes32 label)[])',
  'function isKey(uint256 x, uint256 y) view returns (bool)',
  'function setGuardian(address guardian, uint32 delay, bytes32 commitment)',
  'function getGuardian() view returns (address, uint32 delay, bytes32 commitment, uint8 vetoes, uint40 barredUntil)',
  'function getRecovery() view returns (uint32 id, uint256 x, uint256 y, uint40 readyAt, bytes32 label)',
  'function cancelRecovery()',
  'function vetoRecovery(bytes signature)',
  'function finishRecovery()',
  'function upgradeToAndCall(address implementation, bytes data) payable',
];

const ASSERTION =
  'A passkey signs by WebAuthn with user verification. Its assertion is abi.encode(r, s, challengeIndex, typeIndex, authenticatorData, clientDataJSON) with s in the lower half (OpenZeppelin WebAuthn.WebAuthnAuth without its first word).';

const HOW_FIRST = [
  'Send a user operation (ERC-4337) to any bundler of this entryPoint: sender = account, callData = execute or executeBatch.',
  `Its signature is the assertion over userOpHash. ${ASSERTION}`,
  'The passkey answers only on the host rpId, or a host below it.',
];

const HOW_SECOND = [
  'Send a user operation (ERC-4337) to any bundler of this entryPoint: sender = account, callData = one of the functions above.',
  'While isDeployed is false, give factory and factoryData (createAccount with x, y, salt).',
  'signature = index of the key (1 byte) ‖ validUntil (6 bytes, seconds since 1970, below 2^47) ‖ what the key signs.',
  'What is signed: keccak256(abi.encode(keccak256("VaultOperation(bytes32 userOpHash,uint48 validUntil)"), userOpHash, validUntil)).',
  `A passkey signs it as the challenge. ${ASSERTION}`,
  'An Ethereum address signs the struct VaultOperation as EIP-712 typed data, domain { name "Vault Account", version "2", chainId, verifyingContract: account }: 65 bytes r ‖ s ‖ v.',
  'A passkey answers only on the host rpId, or a host below it. An Ethereum address among the keys depends on no host: it is the way out if this vault is gone.',
];
