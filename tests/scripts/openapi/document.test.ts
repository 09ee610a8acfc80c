import { describe, expect, test } from 'bun:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ERRORS, type ErrorCode } from '../../../lib/base/error.ts';
import type { Route } from '../../../routes/http/route.ts';
import { ROUTES } from '../../../routes/index.ts';
import { OPERATIONS, openApiDocument, templateOf } from '../../../scripts/openapi/document.ts';
import { EVERYWHERE, errorsOf } from '../../../scripts/openapi/errors.ts';
import { NAMED_OPERATIONS } from '../../../scripts/openapi/operations.ts';
import { toolPath } from '../../../scripts/testing/tools.ts';

const REDOCLY = toolPath('@redocly/openapi-core/lib/index.js');

/** What is used of it. */
interface Redocly {
  createConfig(config: { readonly extends: readonly string[] }): Promise<object>;
  lintFromString(given: {
    readonly source: string;
    readonly absoluteRef: string;
    readonly config: object;
  }): Promise<readonly { readonly ruleId: string; readonly message: string }[]>;
}

const document = await openApiDocument();
const routes = OPERATIONS;
const operations = Object.entries(document.paths).flatMap(([path, byMethod]) =>
  Object.entries(byMethod).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

describe('the description of the API', () => {
  test('is OpenAPI 3.1 by its meta-schema', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  });

  test('has every route, and none besides', () => {
    const served = routes.map(({ method, path }) => `${method} ${templateOf(path)}`);
    expect(operations.map(({ name }) => name).sort()).toEqual(served.sort());
  });

  test('passes the recommended rules of Redocly, without a warning', async () => {
    const { createConfig, lintFromString } = (await import(REDOCLY)) as Redocly;
    const config = await createConfig({ extends: ['recommended'] });
    const source = JSON.stringify(document);
    const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  test('leaves out pages, their files, and what is only refused', () => {
    for (const path of ['/', '/console', '/client.js', '/icons/vault.svg', '/pay/', '/api/indexer/{path}'])
      expect([path, document.paths[path]]).toEqual([path, undefined]);
    expect(operations.length).toBeGreaterThan(80);
  });

  test('names each operation once, as a person would, with a line and sentences about it', () => {
    const ids = operations.map(({ operation }) => operation['operationId']);
    expect(new Set(ids).size).toBe(ids.length);
    expect(operations.filter(({ operation }) => !operation['summary']).map(({ name }) => name)).toEqual([]);
    const ofTwo = ['/api/verify/check', '/token'].map((path) => document.paths[path]?.['post']);
    expect(ofTwo.map((operation) => operation?.['operationId'])).toEqual(['checkCode', 'exchangeForTokens']);
    const wordless = operations.filter(({ operation }) => !/^[A-Z].+\.$/.test(String(operation['description'])));
    expect(wordless.map(({ name }) => name)).toEqual([]);
    const known = new Set(operations.map(({ name }) => name));
    expect(NAMED_OPERATIONS.filter((name) => !known.has(templateOf(name)))).toEqual([]);
  });

  test('says of each operation who may call it, and what it answers when nothing fails', () => {
    const without = operations.filter(({ operation }) => operation['security'] === undefined);
    expect(without.map(({ name }) => name)).toEqual([]);
    const isGood = ({ operation }: (typeof operations)[number]) =>
      /"[23]\d\d":/.test(JSON.stringify(operation['responses']));
    expect(operations.filter((one) => !isGood(one)).map(({ name }) => name)).toEqual([]);
  });

  test('leads nowhere that there is nothing', () => {
    const text = JSON.stringify(document);
    const refs = new Set(Array.from(text.matchAll(/"\$ref":"#\/([^"]+)"/g), ([, ref = '']) => ref));
    const find = (ref: string) =>
      ref.split('/').reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], document);
    expect([...refs].filter((ref) => find(ref) === undefined)).toEqual([]);
  });

  test('has the request of each example, in the form that it describes', () => {
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema(document, 'vault', false, false);
    for (const { name, operation } of operations) {
      const { requestBody, parameters = [] } = operation as unknown as Described;
      for (const { schema, example } of Object.values(requestBody?.content ?? {}))
        expect([name, ajv.validate(rooted(schema), example), ajv.errors]).toEqual([name, true, null]);
      for (const { schema, example, required } of parameters) {
        if (required && example !== undefined)
          expect([name, ajv.validate(rooted(schema), example), ajv.errors]).toEqual([name, true, null]);
      }
    }
  });

  test('has no reference with something beside it, and no word without a type: generators of clients drop both', () => {
    const parts: Record<string, unknown>[] = [];
    const walk = (part: unknown) => {
      if (typeof part !== 'object' || part === null) return;
      if (!Array.isArray(part)) parts.push(part as Record<string, unknown>);
      for (const [name, value] of Object.entries(part)) if (name !== 'example') walk(value);
    };
    walk(document);
    expect(parts.filter((part) => '$ref' in part && Object.keys(part).length > 1 && !('description' in part))).toEqual(
      [],
    );
    expect(parts.filter((part) => ('const' in part || Array.isArray(part['enum'])) && !('type' in part))).toEqual([]);
  });

  test.each([
    ['post', '/api/verify/send', 'Accept-Language'],
    ['get', '/words/pay.json', 'Accept-Language'],
    ['get', '/v1/console/events', 'Last-Event-ID'],
    ['get', '/v1/console/events', 'X-Vault-App'],
    ['get', '/pay/config', 'X-Vault-App'],
    ['post', '/api/dids', 'Idempotency-Key'],
  ])('%s %s may bring %s', (method, path, name) => {
    const parameters = document.paths[path]?.[method]?.['parameters'];
    expect(parameters).toContainEqual({ $ref: `#/components/parameters/${name}` });
  });

  test('a request whose key is in use says when to ask again', () => {
    const responses = document.paths['/api/sessions']?.['post']?.['responses'];
    expect(responses).toMatchObject({ 409: { headers: { 'Retry-After': expect.anything() } } });
  });

  test('says of an operation what its kind brings with it', () => {
    const words = (line: string) => {
      const route = routes.find(({ method, path }) => `${method} ${path}` === line);
      return route ? errorsOf(route) : [];
    };
    const body = ['request_timeout', 'payload_too_large', 'unsupported_media_type'] as const;
    const written: ErrorCode[] = [...body, 'origin_not_allowed', 'bad_request'];
    expect(words('POST /api/sessions')).toEqual(
      expect.arrayContaining([...written, 'rate_limited', 'idempotency_key_in_use', 'idempotency_key_reused']),
    );
    expect(words('GET /v1/console/limits')).toEqual(
      expect.arrayContaining(['operator_unauthorized', 'rate_limited', 'misdirected_request']),
    );
    expect(words('GET /healthz')).toEqual(['bad_request']);
    expect(words('POST /pass')).not.toContain('origin_not_allowed');
  });

  test('names every error that there is, but those of JSON-RPC', () => {
    const served: readonly Route[] = ROUTES;
    const named = new Set<ErrorCode>([...EVERYWHERE, ...served.flatMap(errorsOf)]);
    const missing = (Object.keys(ERRORS) as ErrorCode[]).filter((word) => !named.has(word));
    expect(missing.sort()).toEqual([...IN_JSON_RPC].sort());
  });
});

/** Errors that are members of a JSON-RPC answer. */
const IN_JSON_RPC: readonly ErrorCode[] = [
  'bundler_error',
  'bundler_not_configured',
  'bundler_timeout',
  'invalid_params',
  'method_refused',
  'parse_error',
  'sender_not_served',
  'sponsor_limit_reached',
  'sponsorship_refused',
];

interface Example {
  readonly schema: object;
  readonly example?: unknown;
  readonly required?: boolean;
}

interface Described {
  readonly requestBody?: { readonly content: Readonly<Record<string, Example>> };
  readonly parameters?: readonly Example[];
}

/** A schema outside the document refers to its components by the document's name. */
function rooted(schema: object): object {
  return JSON.parse(JSON.stringify(schema ?? {}).replaceAll('"$ref":"#/', '"$ref":"vault#/')) as object;
}
