// Wrong accounts: the contract's own sources with one line changed, and the rules that each breaks.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Hex } from 'ox';
import { compileOnce } from '../compiled.ts';

/** A change of the sources. */
export interface Mutant {
  /** The file of `contracts/`, a text in it, and what stands there instead. */
  readonly edit: readonly [file: string, from: string, to: string];
  /** Whichever of these shows first. */
  readonly breaks: readonly string[];
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const [ACCOUNT, FACTORY, KEYS, RECOVERY] = [
  'contracts/Account2.sol',
  'contracts/AccountFactory2.sol',
  'contracts/account2/AccountKeys.sol',
  'contracts/account2/AccountRecovery.sol',
];
const SOURCES = [
  ACCOUNT,
  FACTORY,
  KEYS,
  RECOVERY,
  'contracts/account2/AccountProxy.sol',
  'contracts/account2/Assertion.sol',
];

const DELAY = 'no key before its delay';
const VETO = 'a veto always wins';
const BAR = 'a bar holds';
const VALUE = 'owners alone move value';
const RULES = 'owners alone set delay and guardian';
const OWNERS = 'owners change keys';
const ONE = 'one proposal at a time';
const SIGN = 'keys that live sign until their end, and no others';

/** By what is wrong. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'a recovery is finished a second early': {
    edit: [RECOVERY, 'if (block.timestamp < readyAt) revert', 'if (block.timestamp + 1 < readyAt) revert'],
    breaks: [DELAY],
  },
  'a recovery never lapses': {
    edit: [RECOVERY, ' && block.timestamp < account.readyAt + FINISH_TIME', ''],
    breaks: [DELAY, ONE, VETO, 'what is allowed is not refused: propose'],
  },
  'a veto leaves the proposal': {
    edit: [RECOVERY, '        _clearRecovery(account);\n        uint8 vetoes', '        uint8 vetoes'],
    breaks: [VETO],
  },
  'a veto comes too late once the delay is over': {
    edit: [
      ACCOUNT,
      'y,,) = getRecovery();\n        if (id == 0)',
      'y, uint40 at,) = getRecovery();\n        if (block.timestamp >= at)',
    ],
    breaks: ['what is allowed is not refused: veto', 'a key that lives vetoes this proposal'],
  },
  'a cancellation by owners is no veto': {
    edit: [ACCOUNT, '_checkEntryPointOrSelf();\n        _veto();', '_checkEntryPointOrSelf();\n        _withdraw();'],
    breaks: [BAR, ONE],
  },
  'ids begin again': {
    edit: [RECOVERY, 'commitment = commitment;\n', 'commitment = commitment;\n        account.recoveryId = 0;\n'],
    breaks: [ONE, VETO, 'what is allowed is not refused: veto'],
  },
  'the bar is a second short': {
    edit: [RECOVERY, 'uint40(block.timestamp + BAR_TIME)', 'uint40(block.timestamp + BAR_TIME - 1)'],
    breaks: [BAR],
  },
  'a barred guardian proposes': {
    edit: [RECOVERY, 'if (block.timestamp < account.barredUntil) revert GuardianIsBarred(account.barredUntil);', ''],
    breaks: [BAR],
  },
  'a finished recovery leaves the vetoes': {
    edit: [RECOVERY, '        account.vetoes = 0;\n', ''],
    breaks: [BAR],
  },
  'a finished recovery gives one key two indices': {
    edit: [RECOVERY, 'if (!isKey(x, y)) _addKey', '_addKey'],
    breaks: [DELAY, OWNERS],
  },
  'a proposal replaces a pending one': {
    edit: [RECOVERY, 'if (_isPending(account)) revert RecoveryPending(account.recoveryId);', ''],
    breaks: [ONE],
  },
  'a new guardian leaves the old one’s proposal': {
    edit: [RECOVERY, '        _cancel(account);\n        (account.guardian', '        (account.guardian'],
    breaks: [ONE, DELAY, VETO],
  },
  'a proposal comes under any commitment': {
    edit: [RECOVERY, 'if (commitment != account.commitment) revert CommitmentDiffers();', ''],
    breaks: ['the guardian proposes, under the present commitment'],
  },
  'the guardian executes': {
    edit: [
      ACCOUNT,
      'bytes calldata data) external onlyEntryPointOrSelf {\n        _call',
      'bytes calldata data) external {\n        if (msg.sender != _account().guardian) _checkEntryPointOrSelf();\n        _call',
    ],
    breaks: [VALUE],
  },
  'the guardian sets its own delay': {
    edit: [
      ACCOUNT,
      'bytes32 commitment) external onlyEntryPointOrSelf {',
      'bytes32 commitment) external {\n        if (msg.sender != _account().guardian) _checkEntryPointOrSelf();',
    ],
    breaks: [RULES],
  },
  'anyone upgrades': {
    edit: [
      ACCOUNT,
      '_authorizeUpgrade(address) internal view override onlyEntryPointOrSelf',
      '_authorizeUpgrade(address) internal view override',
    ],
    breaks: ['owners alone upgrade'],
  },
  'anyone adds keys': {
    edit: [
      ACCOUNT,
      'uint256 y, bytes32 label) external onlyEntryPointOrSelf {',
      'uint256 y, bytes32 label) external {',
    ],
    breaks: [OWNERS],
  },
  'owners add one key more': {
    edit: [KEYS, '>= KEYS_BY_OWNERS_MAX', '> KEYS_BY_OWNERS_MAX'],
    breaks: [OWNERS],
  },
  'the last key goes': {
    edit: [KEYS, 'if (_live() == 1 << index) revert LastKey();', ''],
    breaks: ['never zero owners'],
  },
  'a key is removed by its index alone': {
    edit: [KEYS, 'if (!live || keyX != x || keyY != y) revert', 'if (!live || (keyX != x && keyY == y)) revert'],
    breaks: [OWNERS, 'never zero owners'],
  },
  'index 0 goes to another key': {
    edit: [KEYS, 'for (index = 1; index < INDICES', 'for (index = 0; index < INDICES'],
    breaks: [OWNERS, DELAY],
  },
  'a removed key signs on': {
    edit: [KEYS, '        if (_live() >> index & 1 == 0) return (false, 0, 0);\n', ''],
    breaks: [SIGN, OWNERS, 'a key that lives vetoes this proposal'],
  },
  'an operation needs no end': {
    edit: [ACCOUNT, 'validUntil == 0 || ', ''],
    breaks: [SIGN],
  },
  'the address follows from the day of the creation': {
    edit: [
      FACTORY,
      '        account = getAddress(x, y, salt);',
      '        salt += block.timestamp / 1 days;\n        account = getAddress(x, y, salt);',
    ],
    breaks: ['the address never changes'],
  },
};

/**
 * The creation codes of the factory with each mutant's account, or with the right one for `undefined`. Compiled
 * together, which takes half as long, and without the optimizer, which takes longer than the walk.
 */
export async function mutate(edits: readonly (Mutant['edit'] | undefined)[]): Promise<readonly Hex.Hex[]> {
  const originals = SOURCES.map((path) => [path, readFileSync(ROOT + path, 'utf8')] as const);
  const factory = (n: number) => `${n}/${FACTORY}`;
  const sources = edits.flatMap((edit, n) =>
    originals.map(([path, text]) => {
      const content = edit?.[0] === path ? replaceOnce(text, edit[1], edit[2]) : text;
      return [`${n}/${path}`, { content }] as const;
    }),
  );
  const settings = {
    evmVersion: 'cancun',
    optimizer: { enabled: false, details: { yul: true } },
    outputSelection: Object.fromEntries(
      edits.map((_, n) => [factory(n), { AccountFactory2: ['evm.bytecode.object'] }]),
    ),
  };
  const input = JSON.stringify({ language: 'Solidity', sources: Object.fromEntries(sources), settings });
  const load = (path: string) => ({ contents: readFileSync(`${ROOT}node_modules/${path}`, 'utf8') });
  const { codes } = await compileOnce(input, load);
  return edits.map((_, n) => codes[`${factory(n)}:AccountFactory2`] as Hex.Hex);
}

function replaceOnce(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2) throw new Error(`not once in the source: ${from}`);
  return text.replace(from, () => to);
}
