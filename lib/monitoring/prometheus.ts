import type { Family, Labels, Sample } from '../base/metrics.ts';

/** Prometheus' text format 0.0.4, or OpenMetrics 1.0. */
export type PrometheusFormat = 'text' | 'openmetrics';

/** The `Content-Type` of each format. */
export const PROMETHEUS_CONTENT_TYPES: Readonly<Record<PrometheusFormat, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/**
 * The format that an `Accept` header prefers (RFC 9110 §12.5.1). OpenMetrics only if it is named and weighs at least as
 * much as text.
 */
export function chooseFormat(accept: string | null): PrometheusFormat {
  const ranges = (accept ?? '').toLowerCase().split(',').map(parseRange);
  const openmetrics = weigh(ranges, 'application/openmetrics-text', '1.0.0');
  const text = weigh(ranges, 'text/plain', '0.0.4');
  return openmetrics.weight > text.weight || (openmetrics.isNamed && openmetrics.weight === text.weight)
    ? 'openmetrics'
    : 'text';
}

/** The metric families as text; families without a sample are left out. */
export function formatMetrics(families: readonly Family[], format: PrometheusFormat): string {
  const blocks = families.filter(({ samples }) => samples.length > 0).map((family) => block(family, format));
  return blocks.join('') + (format === 'openmetrics' ? '# EOF\n' : '');
}

/** A number as Go's `%g` writes it, with `.0` for whole ones: the canonical format of OpenMetrics' bucket bounds. */
export function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power < -4 || power >= 6)
    return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
  const digits = String(value);
  return digits.includes('.') ? digits : `${digits}.0`;
}

interface Range {
  readonly type: string;
  readonly version: string | undefined;
  readonly weight: number;
}

function parseRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  const of = (name: string) => parameters.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
  const weight = of('q');
  return {
    type,
    version: of('version')?.replaceAll('"', ''),
    weight: weight === undefined ? 1 : /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0,
  };
}

/** The weight of a type by the most specific range that covers it; 0 if none does. */
function weigh(ranges: readonly Range[], type: string, version: string): { weight: number; isNamed: boolean } {
  const named = ranges.filter((range) => range.type === type && (range.version ?? version) === version);
  const [best] = named.toSorted((a, b) => b.weight - a.weight);
  if (best) return { weight: best.weight, isNamed: best.weight > 0 };
  const any = [`${type.split('/')[0]}/*`, '*/*'].map((wide) => ranges.find((range) => range.type === wide));
  return { weight: any.find((range) => range !== undefined)?.weight ?? 0, isNamed: false };
}

function block({ name, help, type, samples }: Family, format: PrometheusFormat): string {
  // OpenMetrics names a counter's family without the suffix that its samples carry.
  const family = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
  const unit = /_(seconds|bytes)$/.exec(family)?.[1];
  let text = `# HELP ${family} ${escapeHelp(help, format)}\n# TYPE ${family} ${type}\n`;
  if (format === 'openmetrics' && unit) text += `# UNIT ${family} ${unit}\n`;
  for (const sample of samples) text += lines(name, sample);
  return text;
}

function lines(name: string, { labels, value, buckets }: Sample): string {
  const own = pairs(labels);
  if (!buckets) return `${name}${braced(own)} ${number(value)}\n`;
  const before = own === '' ? '' : `${own},`;
  let text = '';
  for (const { le, count } of buckets) text += `${name}_bucket{${before}le="${canonicalNumber(le)}"} ${count}\n`;
  const total = buckets.at(-1)?.count ?? 0;
  return `${text}${name}_sum${braced(own)} ${number(value)}\n${name}_count${braced(own)} ${total}\n`;
}

function pairs(labels: Labels): string {
  let text = '';
  for (const name in labels) text += `${text === '' ? '' : ','}${name}="${escapeLabel(labels[name] ?? '')}"`;
  return text;
}

function braced(own: string): string {
  return own === '' ? '' : `{${own}}`;
}

/** Whole numbers without a fraction: people read counts too. */
function number(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : canonicalNumber(value);
}

function escapeLabel(value: string): string {
  return /["\\\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : value;
}

/** The text format leaves quotes alone; OpenMetrics escapes them. */
function escapeHelp(help: string, format: PrometheusFormat): string {
  return format === 'openmetrics' ? escapeLabel(help) : help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
