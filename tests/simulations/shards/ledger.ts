import type { Keys } from './keys.ts';
import type { Sizes } from './options.ts';

/** What a run broke: how often, and the first case. */
export interface Violation {
  readonly kind: ViolationKind;
  count: number;
  readonly first: string;
}

/** The promises of a run. */
export type ViolationKind =
  | 'an acknowledged claim is lost'
  | 'two claims of one identifier were acknowledged'
  | 'two claims have one credential'
  | 'a refused claim was written'
  | 'a credential leads to a claim that was not written'
  | 'something is still held at the end'
  | 'the budget of the vault was overspent'
  | 'the budget of a network was overspent';

/** What clients remember, and what an onlooker counts who sees each write. It knows nothing of the protocol. */
export interface Ledger {
  readonly violations: ReadonlyMap<ViolationKind, Violation>;
  readonly acknowledged: number;
  readonly refused: number;
  note(kind: ViolationKind, claim: number): void;
  answered(claim: number, isWritten: boolean): void;
  /** A row was written: in this day of the vault, with a network's use of that day. */
  written(claim: number, day: number, usedOn: number): void;
  /** After the end: every answer against every row. */
  audit(rows: Rows, begun: number): void;
}

/** The rows of all shards, by key; 0 is none, else a claim's number and 1. */
export interface Rows {
  readonly holders: Uint32Array;
  readonly credentials: Uint32Array;
  /** Rows that are still held for a claim. */
  readonly open: number;
}

const [WRITTEN, REFUSED] = [1, 2];

/** Opens the ledger of a run. */
export function openLedger(keys: Keys, sizes: Sizes): Ledger {
  const answers = new Uint8Array(sizes.claims);
  const violations = new Map<ViolationKind, Violation>();
  // The uses of a network on two days.
  const uses = new Uint32Array(sizes.networks * 2);
  const usesOn = new Int32Array(sizes.networks * 2).fill(-1);
  let [acknowledged, refused, today, spent] = [0, 0, 0, 0];
  const note = (kind: ViolationKind, claim: number) => {
    const known = violations.get(kind);
    if (known) known.count++;
    else violations.set(kind, { kind, count: 1, first: `claim ${claim}` });
  };
  const auditAnswer = (claim: number, { holders, credentials }: Rows) => {
    const holder = holders[keys.identifierOf(claim)] ?? 0;
    if (answers[claim] === REFUSED && holder === claim + 1) note('a refused claim was written', claim);
    if (answers[claim] !== WRITTEN) return;
    if (holder !== claim + 1) {
      const isOther = holder > 0 && answers[holder - 1] === WRITTEN;
      note(isOther ? 'two claims of one identifier were acknowledged' : 'an acknowledged claim is lost', claim);
    } else if (credentials[keys.credentialOf(claim)] !== claim + 1) note('two claims have one credential', claim);
  };
  return {
    violations,
    get acknowledged() {
      return acknowledged;
    },
    get refused() {
      return refused;
    },
    note,
    answered(claim, isWritten) {
      const answer = isWritten ? WRITTEN : REFUSED;
      if (answers[claim] === answer) return;
      answers[claim] = answer;
      if (isWritten) acknowledged++;
      else refused++;
    },
    written(claim, day, usedOn) {
      spent = day === today ? spent + 1 : 1;
      today = day;
      if (spent > sizes.budget) note('the budget of the vault was overspent', claim);
      const at = keys.networkOf(claim) * 2 + (usedOn & 1);
      uses[at] = usesOn[at] === usedOn ? (uses[at] ?? 0) + 1 : 1;
      usesOn[at] = usedOn;
      if ((uses[at] ?? 0) > sizes.networkBudget) note('the budget of a network was overspent', claim);
    },
    audit(rows, begun) {
      if (rows.open > 0) note('something is still held at the end', rows.open);
      for (let claim = 0; claim < begun; claim++) auditAnswer(claim, rows);
      for (let key = 0; key < begun; key++) {
        const claim = (rows.credentials[key] ?? 0) - 1;
        if (claim >= 0 && rows.holders[keys.identifierOf(claim)] !== claim + 1)
          note('a credential leads to a claim that was not written', claim);
      }
    },
  };
}
