// The policy language of UCAN 1.0 delegations: the arguments of an invocation must satisfy every statement.
import { UCAN_DEPTH_MAX } from './decode.ts';
import { equalIpld, type Ipld, isList } from './ipld.ts';
import { parseSelector, type SelectorStep, select, valuesOf } from './selector.ts';

/** The most statements that are evaluated for one policy. */
const UCAN_POLICY_STEPS_MAX = 10_000;

/** Parsed statements. */
export type Policy = readonly Statement[];

/** Parses a policy. Undefined if a statement is not understood: it must not be ignored. */
export function parsePolicy(value: Ipld | undefined): Policy | undefined {
  return isList(value) ? parseAll(value, 0) : undefined;
}

/**
 * Whether the arguments satisfy the policy. A selector without a result makes its statement undefined, also under
 * `not`. Only true passes; a policy that takes more than `UCAN_POLICY_STEPS_MAX` steps does not.
 */
export function satisfies(args: Ipld, policy: Policy): boolean {
  return holdsAll(policy, args, { left: UCAN_POLICY_STEPS_MAX }) === true;
}

/** Undefined: neither true nor false. */
type Truth = boolean | undefined;
type Test = (found: Ipld, given: Ipld) => Truth;

type Statement =
  | { readonly op: 'test'; readonly steps: readonly SelectorStep[]; readonly test: Test; readonly given: Ipld }
  | { readonly op: 'not'; readonly of: Statement }
  | { readonly op: 'and' | 'or'; readonly of: Policy }
  | { readonly op: 'all' | 'any'; readonly steps: readonly SelectorStep[]; readonly of: Statement };

const TESTS: Readonly<Record<string, Test>> = {
  '==': equalIpld,
  '!=': (found, given) => !equalIpld(found, given),
  '<': compared((found, given) => found < given),
  '<=': compared((found, given) => found <= given),
  '>': compared((found, given) => found > given),
  '>=': compared((found, given) => found >= given),
  like: (found, given) => typeof found === 'string' && typeof given === 'string' && isLike(found, given),
};

function compared(test: (found: number, given: number) => boolean): Test {
  return (found, given) => (typeof found === 'number' && typeof given === 'number' ? test(found, given) : undefined);
}

function parseAll(values: readonly Ipld[], depth: number): Policy | undefined {
  const statements = values.map((value) => parseStatement(value, depth));
  return statements.every((statement) => statement !== undefined) ? statements : undefined;
}

function parseStatement(value: Ipld, depth: number): Statement | undefined {
  if (!isList(value) || depth > UCAN_DEPTH_MAX) return undefined;
  const [op, first, second, ...more] = value;
  if (typeof op !== 'string' || first === undefined || more.length > 0) return undefined;
  if (second === undefined) return parseConnective(op, first, depth);
  const steps = typeof first === 'string' ? parseSelector(first) : undefined;
  if (!steps) return undefined;
  if (op === 'all' || op === 'any') {
    const of = parseStatement(second, depth + 1);
    return of && { op, steps, of };
  }
  const test = Object.hasOwn(TESTS, op) ? TESTS[op] : undefined;
  const isFit = op === 'like' ? typeof second === 'string' : /^[<>]/.test(op) ? typeof second === 'number' : true;
  return test && isFit ? { op: 'test', steps, test, given: second } : undefined;
}

function parseConnective(op: string, value: Ipld, depth: number): Statement | undefined {
  if (op === 'not') {
    const of = parseStatement(value, depth + 1);
    return of && { op, of };
  }
  const of = (op === 'and' || op === 'or') && isList(value) ? parseAll(value, depth + 1) : undefined;
  return of && { op: op as 'and' | 'or', of };
}

interface Budget {
  left: number;
}

function holds(statement: Statement, value: Ipld, budget: Budget): Truth {
  if (--budget.left < 0) return undefined;
  switch (statement.op) {
    case 'and':
      return holdsAll(statement.of, value, budget);
    case 'or':
      return statement.of.length === 0 || someOf(statement.of, (one) => holds(one, value, budget));
    case 'not':
      return not(holds(statement.of, value, budget));
  }
  const found = select(statement.steps, value);
  if (found === undefined) return undefined;
  if (statement.op === 'test') return statement.test(found, statement.given);
  const { op, of } = statement;
  const values = valuesOf(found);
  if (!values) return undefined;
  return op === 'any'
    ? someOf(values, (one) => holds(of, one, budget))
    : not(someOf(values, (one) => not(holds(of, one, budget))));
}

function holdsAll(policy: Policy, value: Ipld, budget: Budget): Truth {
  return not(someOf(policy, (one) => not(holds(one, value, budget))));
}

function not(truth: Truth): Truth {
  return truth === undefined ? undefined : !truth;
}

/** True if one item is true; otherwise undefined if one is undefined. */
function someOf<T>(items: readonly T[], test: (item: T) => Truth): Truth {
  let isUnsure = false;
  for (const item of items) {
    const truth = test(item);
    if (truth === true) return true;
    isUnsure ||= truth === undefined;
  }
  return isUnsure ? undefined : false;
}

/** Matches a pattern in which `*` is any text and `\*` a star. Each part is searched once, so time is bounded. */
function isLike(text: string, pattern: string): boolean {
  const parts = pattern.split(/(?<!\\)\*/).map((part) => part.replaceAll('\\*', '*'));
  const [first = '', last] = [parts[0], parts.length > 1 ? parts.at(-1) : undefined];
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
