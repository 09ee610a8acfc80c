// The description of the HTTP API, OpenAPI 3.1, of the rows of `routes/`. The build puts it among the served files.
import { VERSION } from '../../lib/base/version.ts';
import type { Answer, Security } from '../../routes/http/describe.ts';
import type { Fields } from '../../routes/http/fields.ts';
import { REQUEST_ID_CHARS_MAX } from '../../routes/http/response.ts';
import type { Route } from '../../routes/http/route.ts';
import { ROUTES } from '../../routes/index.ts';
import { ERROR_SCHEMA, EVERYWHERE, errorResponse, errorResponses, errorsByStatus, sharedResponses } from './errors.ts';
import { exampleAnswer, exampleRequest } from './examples.ts';
import { aboutFamily, familyOf, isBody } from './families.ts';
import { aboutOperation, operationIdOf } from './operations.ts';
import { type Json, readSchemas, type Schemas } from './schemas.ts';

/** The whole document. */
export interface OpenApi extends Json {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> } & Json;
}

/** The operations that programs call: without pages, their files, and paths that are always refused. */
export const OPERATIONS: readonly Route[] = ROUTES.filter(
  (route: Route) => familyOf(route) !== 'Pages and files' && Object.keys(route.answers).length > 0,
);

/** Makes the document of these operations. */
export async function openApiDocument(routes: readonly Route[] = OPERATIONS): Promise<OpenApi> {
  const schemas = await readSchemas();
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = templateOf(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(familyOf))].map((name) => ({ name, description: aboutFamily(name) })),
    paths,
    components: {
      schemas: { ...schemas.components, Error: ERROR_SCHEMA },
      responses: { Everywhere: everywhere(), ...sharedResponses(routes) },
      parameters: PARAMETERS,
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const INFO = {
  title: 'Vault',
  version: VERSION,
  description: [
    'One-time codes, attestations, and DIDs registered on-chain.',
    'Clients ignore members that they do not know. `HEAD` works where `GET` does, `OPTIONS` answers 204 everywhere.',
  ].join(' '),
  license: { name: 'MIT', identifier: 'MIT' },
};

/** A path as OpenAPI writes it: `/api/indexer/:path+` is `/api/indexer/{path}`. */
export function templateOf(path: string): string {
  return path.replace(/:(\w+)\+?/g, '{$1}');
}

function operationOf(route: Route, schemas: Schemas): Json {
  const { method, path, summary, security, fields, body } = route;
  const parameters = [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...(method === 'GET' ? queryOf(route, schemas) : []),
    ...headersOf(route),
  ];
  const responses = responsesOf(route, schemas);
  const has4xx = Object.keys(responses).some((status) => status.startsWith('4'));
  return {
    operationId: operationIdOf(route),
    summary,
    description: aboutOperation(route),
    tags: [familyOf(route)],
    ...(INTERNAL.test(path) ? { 'x-internal': true } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body === undefined ? {} : { requestBody: bodyOf(route, fields, schemas) }),
    responses: {
      ...responses,
      // Every operation refuses something, and generators look for a status.
      ...(has4xx ? {} : { '4XX': { $ref: '#/components/responses/Everywhere' } }),
      default: { $ref: '#/components/responses/Everywhere' },
    },
    security: security === undefined ? [] : SECURITY[security],
  };
}

/** Paths for the vault's own pages, which come with the vault that serves them. */
const INTERNAL = /^\/(?:words\/|pass$|authorize\/(?:code|config)$|pay\/.*manifest\.json$)/;

function queryOf(route: Route, schemas: Schemas): readonly Json[] {
  const example = exampleRequest(route);
  return Object.entries(route.fields).map(([name, { schema, required }]) => ({
    name,
    in: 'query',
    required,
    schema: schemas.input(schema),
    ...(example?.[name] === undefined ? {} : { example: example[name] }),
  }));
}

function headersOf({ path, isPage, isIdempotent }: Route): readonly Json[] {
  const names = [
    ...(isIdempotent ? ['Idempotency-Key'] : []),
    ...(isPage ? [] : ['X-Request-Id']),
    ...((path.startsWith('/api/') && !isPage) || BY_APP.includes(path) ? ['X-Vault-App'] : []),
    ...(BY_LANGUAGE.test(path) ? ['Accept-Language'] : []),
    ...(path === '/v1/console/events' ? ['Last-Event-ID'] : []),
  ];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** Outside of `/api/` these answer by the app, and these by the language. */
const BY_APP = ['/v1/console/events', '/pay/config'];
const BY_LANGUAGE = /^\/(?:api\/verify\/send$|words\/)/;

function bodyOf(route: Route, fields: Fields, schemas: Schemas): Json {
  const { body, otherFields, wire } = route;
  const forms = [fields, ...(otherFields ? [otherFields] : [])].map((form) => objectOf(form, schemas));
  const schema = wire ? schemas.input(wire) : forms.length === 1 ? forms[0] : { anyOf: forms };
  const media = body === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
  return { required: true, content: { [media]: { schema, example: exampleRequest(route) } } };
}

function objectOf(fields: Fields, schemas: Schemas): Json {
  const all = Object.entries(fields);
  const required = all.filter(([, field]) => field.required).map(([name]) => name);
  const properties = Object.fromEntries(all.map(([name, field]) => [name, schemas.input(field.schema)]));
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

function responsesOf(route: Route, schemas: Schemas): Json {
  const responses: Record<string, Json> = { ...errorResponses(route) };
  for (const [status, answer] of Object.entries(route.answers)) {
    const made = answerResponse(route, Number(status), answer, schemas);
    const words = errorsByStatus(route).get(Number(status));
    responses[status] = words ? eitherOf(made, errorResponse(words)) : made;
  }
  return responses;
}

function answerResponse(route: Route, status: number, answer: Answer, schemas: Schemas): Json {
  const headers = {
    'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    ...(route.isIdempotent ? { 'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' } } : {}),
    ...(status >= 300 && status < 304 ? { Location: { schema: { type: 'string' } } } : {}),
  };
  if (isBody(answer)) {
    const types = [answer.media, answer.otherMedia].flat().flatMap((type) => (type ? [[type.split(';')[0], {}]] : []));
    const content = types.length > 0 ? { content: Object.fromEntries(types) } : {};
    return { description: answer.about, headers, ...content };
  }
  const schema = schemas.output(answer);
  const example = exampleAnswer(route, status);
  const content = { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
  return { description: sentenceOf(schema, schemas) ?? route.summary, headers, content };
}

function sentenceOf({ $ref, description }: Json, { components }: Schemas): unknown {
  return typeof $ref === 'string' ? components[$ref.split('/').at(-1) ?? '']?.['description'] : description;
}

/** A status with an answer and an error: the body is one of both. */
function eitherOf(answer: Json, error: Json): Json {
  const schemaOf = ({ content }: Json) =>
    (content as { 'application/json'?: { schema: Json } } | undefined)?.['application/json']?.schema;
  const schemas = [schemaOf(answer), schemaOf(error)].filter((schema) => schema !== undefined);
  const json = { 'application/json': { schema: schemas.length > 1 ? { anyOf: schemas } : schemas[0] } };
  return { ...error, ...answer, content: { ...(answer['content'] as object | undefined), ...json } };
}

function everywhere(): Json {
  const { content } = errorResponse(['bad_request', ...EVERYWHERE]);
  const description = 'Errors of any request: an unreadable Host, an unknown path or method, an internal fault';
  const headers = {
    'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    Allow: { $ref: '#/components/headers/Allow' },
  };
  return { description, headers, content };
}

const PARAMETERS = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'The first 2xx answer is replayed for 24 hours, that of a send until its code ends, where key and body are the same',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  },
  'Accept-Language': {
    name: 'Accept-Language',
    in: 'header',
    description: 'The language, where `lang` does not say one',
    schema: { type: 'string' },
  },
  'Last-Event-ID': {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The id of the last event that the client has, as browsers send it; the same as `last_event_id`',
    schema: { type: 'string' },
  },
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    description: 'Comes back in the answer, and is in the log; one of another form is replaced',
    schema: { type: 'string', pattern: `^[A-Za-z0-9._-]{1,${REQUEST_ID_CHARS_MAX}}$` },
  },
  'X-Vault-App': {
    name: 'X-Vault-App',
    in: 'header',
    description: 'The app that the events of the request belong to, if it is one of APPS',
    schema: { type: 'string', pattern: '^[a-z0-9-]{1,64}$' },
  },
};

const text = (description: string) => ({ description, schema: { type: 'string' } });

const HEADERS = {
  Allow: text('With 405: the methods that there are'),
  'X-Request-Id': text('The request as the log knows it'),
  'Idempotent-Replayed': text('`true` if this is the answer to an earlier request with the same key'),
  'Retry-After': { description: 'Seconds; absent if waiting does not help', schema: { type: 'integer', minimum: 0 } },
  RateLimit: text('The limit that refused: `"name";r=0;t=seconds`'),
  'RateLimit-Policy': text('The size of that limit: `"name";q=count;w=seconds`'),
};

const SECURITY_SCHEMES = {
  operator: { type: 'http', scheme: 'bearer', description: 'OPERATOR_SECRET' },
  streamToken: { type: 'http', scheme: 'bearer', bearerFormat: 'UCAN', description: 'A token of the event stream' },
  streamTokenInQuery: { type: 'apiKey', in: 'query', name: 'token', description: 'The same, as browsers send it' },
  metricsToken: { type: 'http', scheme: 'bearer', description: 'METRICS_TOKEN; peers of METRICS_ALLOW need none' },
  accessToken: { type: 'http', scheme: 'bearer', description: 'The access token of `POST /token`' },
  doctor: { type: 'http', scheme: 'bearer', description: 'Derived from VAULT_SECRET, for a minute' },
};

const SECURITY: Readonly<Record<Security, readonly Json[]>> = {
  operator: [{ operator: [] }],
  token: [{ streamToken: [] }, { streamTokenInQuery: [] }],
  metrics: [{ metricsToken: [] }, {}],
  doctor: [{ doctor: [] }],
  access: [{ accessToken: [] }],
};
