// The examples: a request of samples, the answer that a run got, and both as curl and as a call of the client.
import type { Route } from '../../routes/http/route.ts';
import recorded from './recorded.json';
import { SAMPLES, VARIABLES } from './samples.ts';

type Values = Readonly<Record<string, unknown>>;

/** The request of an operation's example: samples for the required members, and those that its row gives. */
export function exampleRequest(route: Route): Values | undefined {
  const form = formOf(route);
  // A query is text.
  const given = (value: unknown) => (route.method === 'GET' ? String(sampleOf(value)) : sampleOf(value));
  return form && mapValues(form, given);
}

/** The recorded answer to it; undefined if that has another status. */
export function exampleAnswer({ method, path }: Route, status: number): unknown {
  const found = RECORDED[`${method} ${path}`];
  return found?.status === status ? found.body : undefined;
}

/** Recorded by a run of the examples (`tests/examples.test.ts`). */
const RECORDED: Readonly<Record<string, { readonly status: number; readonly body: unknown }>> = recorded;

/** The example as commands of a shell, in which `$VAULT` is the vault's origin. */
export function curlOf(route: Route): string {
  const { method, path, security } = route;
  const form = formOf(route);
  const secret = SECRETS[security ?? 'none'];
  const options = [
    secret && `-H "Authorization: Bearer $${secret}"`,
    method === 'POST' ? bodyOf(route, form) : undefined,
  ];
  const query =
    method === 'GET' && form
      ? `?${Object.entries(form)
          .map(([name, value]) => `${name}=${value}`)
          .join('&')}`
      : '';
  return ['curl', `"$VAULT${path}${query}"`, ...options.filter(Boolean)].join(' ');
}

/** The same as a call of the client; undefined where the answer is not JSON. */
export function callOf(route: Route): string | undefined {
  const isJson = Object.values(route.answers).some((answer) => !('media' in answer));
  if (!isJson || route.path.includes(':') || route.security === 'doctor' || route.isOAuth) return undefined;
  const form = formOf(route);
  const name = `'${route.method} ${route.path}'`;
  return `await vault.call(${form ? `${name}, ${literalOf(form)}` : name});`;
}

/** The variables of an example, such as `CODE`. */
export function variablesOf(route: Route): readonly string[] {
  const secret = SECRETS[route.security ?? 'none'];
  const named = JSON.stringify(formOf(route) ?? {}).matchAll(/"\$([A-Z_0-9]+)"/g);
  return [...new Set([...Array.from(named, ([, name = '']) => name), ...(secret ? [secret] : [])])];
}

const SECRETS: Readonly<Record<string, string>> = {
  operator: 'OPERATOR_SECRET',
  metrics: 'METRICS_TOKEN',
  doctor: 'DOCTOR_TOKEN',
  token: 'TOKEN',
  access: 'ACCESS_TOKEN',
};

/** The members by name, variables as `$NAME`. */
function formOf({ fields, example, wire }: Route): Values | undefined {
  if (wire) return example;
  const required = Object.entries(fields).filter(([, field]) => field.required);
  const form = { ...Object.fromEntries(required.map(([name]) => [name, SAMPLES[name]])), ...example };
  return Object.keys(form).length > 0 ? form : undefined;
}

function bodyOf({ body }: Route, form: Values = {}): string {
  if (body === 'form')
    return Object.entries(form)
      .map(([name, value]) => `-d "${name}=${value}"`)
      .join(' ');
  const text = JSON.stringify(form).replace(/"\$([A-Z_0-9]+)"/g, (_, name) =>
    isText(name) ? `"$${name}"` : `$${name}`,
  );
  return text.includes('$') ? `--json @- <<END\n${text}\nEND` : `--json '${text}'`;
}

function isText(variable: string): boolean {
  return typeof VARIABLES[variable]?.sample === 'string';
}

/** An object as TypeScript: `{ identifier: 'ada@example.com', code }`. */
function literalOf(value: unknown): string {
  if (typeof value === 'string') return value.startsWith('$') ? camelOf(value) : `'${value}'`;
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => {
    const text = literalOf(member);
    return text === name ? name : `${name}: ${text}`;
  });
  return `{ ${members.join(', ')} }`;
}

function camelOf(variable: string): string {
  return variable
    .slice(1)
    .toLowerCase()
    .replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
}

function sampleOf(value: unknown): unknown {
  const name = typeof value === 'string' && value.startsWith('$') ? value.slice(1) : undefined;
  return name === undefined ? value : VARIABLES[name]?.sample;
}

function mapValues(values: Values, change: (value: unknown) => unknown): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
