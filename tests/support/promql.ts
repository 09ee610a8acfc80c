import { METRICS } from '../../lib/base/metric-catalogue.ts';

/** Labels that Prometheus gives to each series, or to the buckets of a histogram. */
const GIVEN = ['job', 'instance', 'le'];
/** Series that Prometheus makes itself. */
const OWN = ['up'];

/** What an expression names that no vault's /metrics has: families, and labels that its families lack. */
export function familyFaults(expression: string): string[] {
  const faults: string[] = [];
  const known = new Set(GIVEN);
  const text = expression.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  for (const [, name = '', matchers = ''] of text.matchAll(/\b((?:vault|process)_\w+|up\b)(?:\{([^}]*)\})?/g)) {
    const labels = labelsOf(name);
    if (labels === undefined) {
      faults.push(`${name} is no family`);
      continue;
    }
    for (const label of labels) known.add(label);
    for (const [, label = ''] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
      if (![...labels, ...GIVEN].includes(label)) faults.push(`${name} has no label ${label}`);
  }
  if (faults.some((fault) => fault.endsWith('is no family'))) return faults;
  for (const [, list = ''] of text.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g))
    for (const label of list.split(',').map((one) => one.trim()))
      if (label !== '' && !known.has(label)) faults.push(`no family here has the label ${label}`);
  return faults;
}

/** A counter whose growth an expression asks for, and which of its series. */
export interface Counted {
  readonly name: string;
  readonly isMeant: (labels: Readonly<Record<string, string>>) => boolean;
}

/** What an expression counts with `increase` or `rate`. */
export function countersIn(expression: string): Counted[] {
  const counted = expression.matchAll(/\b(?:increase|rate)\((\w+)(?:\{([^}]*)\})?\[/g);
  return Array.from(counted, ([, name = '', text = '']) => {
    const matchers = Array.from(text.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g));
    return {
      name,
      isMeant: (labels) =>
        matchers.every(([, label = '', operator = '', value = '']) => {
          const own = labels[label] ?? '';
          const isSame = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(own) : own === value;
          return isSame !== operator.startsWith('!');
        }),
    };
  });
}

function labelsOf(name: string): readonly string[] | undefined {
  if (OWN.includes(name)) return [];
  const family = Object.hasOwn(METRICS, name) ? name : name.replace(/_(?:bucket|count|sum)$/, '');
  const found = (METRICS as Readonly<Record<string, { type: string; labels: readonly string[] }>>)[family];
  return found === undefined || (family !== name && found.type !== 'histogram') ? undefined : found.labels;
}
