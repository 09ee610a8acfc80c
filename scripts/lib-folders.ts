// The folders of `lib/`, with their subjects and the imports that they may have. tests/architecture.test.ts holds the
// sources against it, and `bun scripts/docs.ts` writes the table of docs/architecture.md from it.

/** A folder of `lib/`, or a file at its top. */
interface Folder {
  readonly about: string;
  /** The folders that it may import from; types and `import()` count. */
  readonly may: readonly string[];
}

/** The ground of `lib/`: the folders that a service of any subject may import. */
const GROUND = ['base', 'config', 'constants', 'db', 'events', 'identity', 'platform'];

/** In order: each may import only those above it. */
export const LIB_FOLDERS: Readonly<Record<string, Folder>> = {
  base: { about: 'bytes, clock, errors, IP addresses, log, metrics, randomness, outgoing HTTP', may: [] },
  constants: { about: 'numbers of the specification, and those that several subjects share', may: ['base'] },
  identity: { about: "identifiers, DIDs, passkeys, the vault's keys", may: ['base', 'constants'] },
  db: { about: 'the database port, group commit, the schema, row lock, leases', may: ['base', 'constants'] },
  'static-files': { about: 'files that are served as they are', may: ['base'] },
  ucan: { about: 'UCAN 1.0: decoding, verification, minting', may: ['base', 'identity'] },
  events: { about: 'the event catalogue and the events table', may: ['base', 'constants', 'db'] },
  delivery: { about: 'mail and SMS providers', may: ['base', 'constants'] },
  config: {
    about: 'the table of settings, their parsers and rules',
    may: ['base', 'constants', 'delivery', 'identity'],
  },
  chain: { about: 'JSON-RPC, ABIs, accounts, receipts, fees, transactions', may: ['base', 'config', 'constants'] },
  clients: { about: 'the apps that people sign in to, as `CLIENTS` names them', may: ['base', 'config'] },
  brand: { about: 'names, logos, colours and support addresses, by app', may: ['base', 'clients', 'config'] },
  words: { about: "languages, the operator's words, and those of mails", may: ['base', 'config'] },
  people: {
    about: 'what people see and read: brand and words together',
    may: ['base', 'brand', 'clients', 'config', 'words'],
  },
  streams: { about: 'the live event stream', may: ['base', 'config', 'constants', 'db', 'events'] },
  platform: { about: 'the types of the ground parts', may: ['base', 'chain', 'config', 'db', 'identity'] },
  signing: {
    about: 'keys that sign for others, published before and after: of ID tokens, of credentials',
    may: GROUND,
  },
  idempotency: { about: '`Idempotency-Key`', may: GROUND },
  limits: { about: 'request limits, the report of stored limits, limit events', may: GROUND },
  admission: { about: 'who may register: the mode, invites, refused mail domains', may: GROUND },
  aliases: { about: "where a handle's alias leads now: by the index, else by the registry", may: [...GROUND, 'chain'] },
  sessions: { about: 'registration sessions', may: [...GROUND, 'admission', 'aliases', 'limits'] },
  verification: { about: 'sending and checking codes, attestations', may: [...GROUND, 'delivery', 'limits'] },
  webhooks: { about: 'the webhook queue and its worker', may: GROUND },
  joins: { about: 'mailboxes for keys that are made on another device', may: [...GROUND, 'limits'] },
  tokens: { about: 'console tokens and revocations, operators with names', may: [...GROUND, 'ucan'] },
  'key-rotation': { about: 'detection of replaced keys', may: [...GROUND, 'tokens'] },
  payments: {
    about: 'what became of payments, by what the chain shows: outcomes, and the watch that settles',
    may: [...GROUND, 'chain'],
  },
  holders: {
    about: 'who holds an identifier and where a credential leads, settled after each change of a registration',
    may: [...GROUND, 'sessions'],
  },
  bundler: { about: 'the ERC-4337 proxy and sponsoring', may: [...GROUND, 'chain', 'holders', 'limits', 'payments'] },
  relay: {
    about: "the vault's own transactions, of two keys and several kinds: sign, broadcast, replace, track",
    may: [...GROUND, 'chain', 'holders', 'sessions'],
  },
  indexer: {
    about: 'the follower of the chain and the queries on its events',
    may: [...GROUND, 'aliases', 'chain', 'holders', 'sessions'],
  },
  registration: {
    about: 'recording, relaying, confirming and finding registrations',
    may: [
      ...GROUND,
      'admission',
      'aliases',
      'chain',
      'delivery',
      'holders',
      'limits',
      'relay',
      'sessions',
      'verification',
    ],
  },
  resolution: {
    about: 'DID Resolution 1.0: documents of DIDs by what registry and accounts show in a block',
    may: [...GROUND, 'chain', 'registration', 'signing'],
  },
  'authorization-codes': {
    about: 'codes that apps exchange for who signed in at `/authorize`',
    may: [...GROUND, 'holders', 'registration'],
  },
  openid: {
    about: 'the OpenID Provider: authorization requests, tokens and claims',
    may: [...GROUND, 'authorization-codes', 'clients', 'registration', 'signing'],
  },
  credentials: {
    about: 'short-lived credentials of proven addresses (SD-JWT VC): key proofs, issuing, judging',
    may: [...GROUND, 'holders', 'limits', 'registration', 'signing', 'verification'],
  },
  recovery: {
    about: 'the vault as guardian: recoveries from request to end, their mails, carried vetoes',
    may: [...GROUND, 'chain', 'delivery', 'limits', 'registration', 'relay', 'verification'],
  },
  moves: {
    about: 'addresses that go to another DID after a while, as their holders have a passkey; mails to holders',
    may: [...GROUND, 'chain', 'delivery', 'holders', 'recovery', 'registration', 'verification'],
  },
  monitoring: { about: "health, the console's overview, Prometheus text", may: [...GROUND, 'indexer'] },
  doctor: {
    about: 'the checks of `vault doctor` and of the console; `commands/doctor/` has those of files, disk and database',
    may: [
      ...GROUND,
      'brand',
      'bundler',
      'chain',
      'clients',
      'delivery',
      'indexer',
      'limits',
      'monitoring',
      'relay',
      'words',
    ],
  },
  person: {
    about: 'what the vault holds of one person: shown, erased, and forgotten in time',
    may: [...GROUND, 'holders', 'limits'],
  },
};

/** docs/architecture.md with the table of these folders. Throws where its place is gone. */
export function withLibFolders(document: string): string {
  const [before, rest] = document.split(BEGIN);
  const end = rest?.indexOf(END) ?? -1;
  if (before === undefined || rest === undefined || end < 0)
    throw new Error('docs/architecture.md has no place for lib/');
  const rows = Object.entries(LIB_FOLDERS).map(
    ([name, { about, may }]) => `| \`${name}\` | ${about} | ${mayText(may)} |`,
  );
  const table = ['| in `lib/` | subject | may import |', '|---|---|---|', ...rows].join('\n');
  return `${before}${BEGIN}\n\n${table}\n\n${rest.slice(end)}`;
}

const BEGIN = '<!-- Written by `bun scripts/docs.ts` from scripts/lib-folders.ts: change it there. -->';
const END = '<!-- The end of what is written. -->';

function mayText(may: readonly string[]): string {
  const hasGround = GROUND.every((name) => may.includes(name));
  const others = may.filter((name) => !hasGround || !GROUND.includes(name)).map((name) => `\`${name}\``);
  return [...(hasGround ? ['the ground'] : []), ...others].join(', ') || '–';
}
