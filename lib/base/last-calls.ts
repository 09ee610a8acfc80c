/** How a part outside the vault last answered this process. Times are milliseconds since the Unix epoch. */
export interface LastCall {
  readonly okAt: number | null;
  readonly failedAt: number | null;
  /** Why it last failed: no address, code, key or URL. */
  readonly fault: string | null;
}

/** The last calls by part, such as `email` or `rpc`. */
export interface LastCalls {
  /** `fault` is absent for a success; of an error its nearest cause is taken. */
  record(part: string, at: number, fault?: unknown): void;
  read(): Readonly<Record<string, LastCall>>;
}

/** Nothing called yet. Parts come from a bounded set. */
export function createLastCalls(): LastCalls {
  const calls = new Map<string, LastCall>();
  return {
    record(part, at, fault) {
      const before = calls.get(part) ?? { okAt: null, failedAt: null, fault: null };
      const after = fault === undefined ? { okAt: at } : { failedAt: at, fault: wordsOf(fault) };
      calls.set(part, { ...before, ...after });
    },
    read: () => Object.fromEntries(calls),
  };
}

const FAULT_CHARS_MAX = 200;

/** Causes are masked where they are made; an address that a host's own mailer quotes is cut out here too. */
function wordsOf(fault: unknown): string {
  const one = fault instanceof Error && fault.cause instanceof Error ? fault.cause : fault;
  const text = one instanceof Error ? one.message : String(one);
  return text.replace(/\S+@\S+|\+\d{6,}/g, '…').slice(0, FAULT_CHARS_MAX);
}
