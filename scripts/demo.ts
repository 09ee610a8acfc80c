// npm run demo [-- --full | --browser]: the whole main job against what `npm start` runs, step by step, or a person's
// side of it in a browser. Exits with 1 when any step fails.
import { AbiFunction, Hex } from 'ox';
import { loadEnclave } from '../client/enclave.ts';
import { didRegistryAbi } from '../contracts/abi.ts';
import { toBase64url } from '../lib/base/bytes.ts';
import { didHash } from '../lib/identity/did.ts';
import { HELP, readOptions } from './demo/options.ts';
import { mailFor, waitFor } from './demo/waiting.ts';
import { type ChainRpc, connectChain } from './dev-stack/chain.ts';
import { createPasskey, type Passkey } from './dev-stack/passkey.ts';
import { type ProofVault, proveRegistration } from './dev-stack/passkey-proof.ts';
import * as wallet from './dev-stack/user-operation.ts';
import { readStack, type Stack } from './start.ts';

const CHAIN_ID = 84532;
/** The kind of account: one with several keys. The passkey here is the first. */
const KIND = 2;
const NO_ALIAS = Hex.padLeft('0x', 32);
/** Whether hashes, keys and answers are printed whole. */
const FULL = process.argv.includes('--full');
const LINE_MAX = 300;

async function main(): Promise<void> {
  const stack = await readStack();
  const vault = client(stack.vault);
  const who = { identifier: `demo-${crypto.randomUUID().slice(0, 8)}@example.com`, channel: 'email' };

  step('The running stack, and the enclave it serves: the hashes and keys of a client, in WebAssembly');
  const { enclave: published } = await vault('GET', '/api/status');
  const enclave = await loadEnclave(`${stack.vault}/enclave.wasm`, published as { sha256: string });

  step('Follow what happens: a token of five minutes for the live stream of events, from the operator');
  const events = await follow(stack, vault);
  const attestation = await prove(stack, vault, who);

  step('Predict the account of a new passkey, which holds no ether and does not exist yet');
  const passkey = createPasskey();
  const [pubKeyX, pubKeyY] = [Hex.fromBytes(passkey.key.x), Hex.fromBytes(passkey.key.y)];
  const { address } = await vault('GET', `/api/accounts/predict?pubKeyX=${pubKeyX}&pubKeyY=${pubKeyY}&kind=${KIND}`);
  await vault('GET', `/api/accounts/state?account=${address}`);

  step('Open a session for its DID');
  const did = `did:pkh:eip155:${CHAIN_ID}:${address}`;
  await vault('POST', '/api/sessions', { ...who, did });

  step('Register the DID on-chain: a user operation, sponsored, signed by the passkey, sent through the vault');
  const receipt = await register(stack, vault, passkey, did);
  const { transactionHash: txHash, blockNumber } = receipt.receipt;
  console.log(indent(`transaction ${txHash}\nblock ${Number(blockNumber)}, gas used ${Number(receipt.actualGasUsed)}`));
  const state = await vault('GET', `/api/accounts/state?account=${address}`);
  const hash = Hex.fromBytes(enclave.didHash(did));
  if (hash !== state['did']) throw new Error('the chain knows the DID by another hash than the enclave');
  console.log(indent(`the enclave hashes the DID to the same: ${cut(hash)}`));

  step('Record it with the vault: the attestation proves the address, the passkey that the DID is its own');
  const credentialId = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
  const smartAccount = String(address) as `0x${string}`;
  const contracts = (await ask(`${stack.vault}/api/contracts`)) as unknown as ProofVault;
  const claim = { credentialId, ...who, did, smartAccount, attestation };
  await vault('POST', '/api/dids', { ...claim, txHash, ...proveRegistration(passkey, contracts, claim) });

  step('Wait until the vault has read the chain, and look the DID up by its passkey');
  const found = await confirmed(vault, stack, credentialId);
  if (found['did'] !== did || found['proven'] !== true) throw new Error('the registration is not proven');

  step("See it in the vault's own index of the chain");
  const path = `/api/indexer/dids?hash=${didHash(did)}`;
  await waitFor('the DID in the index', async () => ((await ask(stack.vault + path))['found'] ? true : undefined));
  await vault('GET', path);

  await meetLimit(vault);

  step('The events that the stream delivered meanwhile');
  for (const line of await events.until('registration.confirmed')) console.log(indent(cut(line)));
  console.log(`\nDone: ${who.identifier} is proven, and ${did} is registered, confirmed and proven.`);
}

type Client = ReturnType<typeof client>;

/** Asks for more codes than one phone number is sent in an hour. */
async function meetLimit(vault: Client): Promise<void> {
  step('Meet a limit: SMS to one number, of which the sixth in an hour is refused');
  const phone = {
    identifier: `+1415555${String(Math.floor(Math.random() * 10_000)).padStart(4, '0')}`,
    channel: 'sms',
  };
  for (let sent = 0; sent < 5; sent++) await vault('POST', '/api/verify/send', phone);
  const { limit, retry_after } = await vault('POST', '/api/verify/send', phone, {}, 429);
  if (limit !== 'sends-per-number') throw new Error('another limit refused');
  console.log(indent(`the next one in ${retry_after} seconds`));
}

/** Proves an address of mail with the code that arrives there; gives the attestation. */
async function prove(stack: Stack, vault: Client, who: { identifier: string; channel: string }): Promise<unknown> {
  step(`Prove ${who.identifier}: ask for a one-time code`);
  await vault('POST', '/api/verify/send', who);
  const mail = await mailFor(stack, who.identifier);
  console.log(indent(`mail for ${who.identifier}\nSubject: ${mail.subject}\n\n${mail.text.trim()}`));

  step('Check the code, and get an attestation');
  const code = /\b\d{6}\b/.exec(mail.text)?.[0];
  const { attestation } = await vault('POST', '/api/verify/check', { ...who, code });
  if (!attestation) throw new Error('the code was not accepted');
  return attestation;
}

/** Opens the live stream of events and keeps what it tells; `until` closes it, since a stream never ends by itself. */
async function follow(stack: Stack, vault: Client) {
  const secret = (await Bun.file(stack.operatorSecretFile).text()).trim();
  const asOperator = { Authorization: `Bearer ${secret}` };
  const { token } = await vault('POST', '/v1/console/token', { app: 'default' }, asOperator);
  const end = new AbortController();
  const response = await fetch(`${stack.vault}/v1/console/events?app=default`, {
    headers: { Authorization: `Bearer ${token}` },
    signal: end.signal,
  });
  if (!response.ok || !response.body) throw new Error(`the stream was answered with ${response.status}`);
  let text = '';
  const decoder = new TextDecoder();
  const reading = (async (body: AsyncIterable<Uint8Array>) => {
    for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  })(response.body);
  // `end` ends it. If the vault stops meanwhile, `until` notices.
  reading.catch(() => {});
  const told = () => Array.from(text.matchAll(/^data: (\{.*\})$/gm), ([, data = '']) => data);
  return {
    until: (type: string) =>
      waitFor(`the event ${type}`, async () => {
        const lines = told().filter((line) => !line.includes('"token.minted"'));
        return lines.some((line) => line.includes(`"${type}"`)) ? lines : undefined;
      }).finally(() => end.abort()),
  };
}

/** Creates the passkey's account and has it register the DID, in one operation that a sponsor pays for. */
async function register(stack: Stack, vault: Client, passkey: Passkey, did: string): Promise<wallet.OperationReceipt> {
  const node = connectChain(stack.chain);
  const account = await wallet.openAccount(node, stack, passkey, 0n, KIND);
  const call = AbiFunction.fromAbi(didRegistryAbi, 'register');
  const data = AbiFunction.encodeData(call, [didHash(did), NO_ALIAS, '']);
  const receipt = await wallet.runSponsored(node, bundlerOf(vault), account, [{ target: stack.didRegistry, data }]);
  if (!receipt.success) throw new Error('the registration reverted');
  return receipt;
}

/** The vault's bundler proxy, as a wallet asks a bundler. */
function bundlerOf(vault: Client): ChainRpc {
  return async (method, params = []) => {
    const answer = await vault('POST', '/api/bundler', { jsonrpc: '2.0', id: 1, method, params });
    if (answer['error']) throw new Error(`${method}: ${JSON.stringify(answer['error'])}`);
    return answer['result'];
  };
}

async function confirmed(vault: Client, stack: Stack, credentialId: string): Promise<Record<string, unknown>> {
  const path = `/api/dids/lookup?credentialId=${credentialId}`;
  await waitFor('the confirmation', async () => {
    const { status } = await ask(stack.vault + path);
    return status === 'submitted' ? undefined : true;
  });
  return vault('GET', path);
}

let steps = 0;
function step(text: string): void {
  console.log(`\n${++steps}. ${text}`);
}

/**
 * Prints each request and its answer. Throws at any status but 200. Each run is a client of its own: the limits are per
 * IP.
 */
function client(base: string) {
  const ip = `198.51.100.${1 + Math.floor(Math.random() * 254)}`;
  return async (
    method: string,
    path: string,
    body?: unknown,
    more = {},
    expected = 200,
  ): Promise<Record<string, unknown>> => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    console.log(indent(`${method} ${cut(path)}${body === undefined ? '' : `\n${cut(JSON.stringify(body))}`}`));
    const headers = { 'Content-Type': 'application/json', 'Edge-Connecting-IP': ip, ...more };
    const response = await fetch(base + path, { method, headers, ...text });
    const answer = await response.text();
    console.log(indent(`→ ${response.status} ${cut(answer)}`));
    if (response.status !== expected) throw new Error(`${method} ${path} was answered with ${response.status}`);
    return JSON.parse(answer) as Record<string, unknown>;
  };
}

/** Hex and base64 with their middles cut out, then the line's end, so that it can be read. */
function cut(text: string): string {
  if (FULL) return text;
  const short = text
    .replace(/0x0{16,}/g, '0x0…0')
    .replace(/(0x[0-9a-fA-F]{8})[0-9a-fA-F]{16,}([0-9a-fA-F]{4})/g, '$1…$2')
    .replace(/(?<![\w-])([\w-]{12})[\w-]{28,}/g, '$1…');
  return short.length > LINE_MAX ? `${short.slice(0, LINE_MAX)} …` : short;
}

async function ask(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(url)).json()) as Record<string, unknown>;
}

function indent(text: string): string {
  return text.replace(/^/gm, '   ');
}

try {
  const wanted = readOptions(process.argv.slice(2));
  if (wanted === 'help') console.log(HELP);
  else if (wanted === 'requests') await main();
  else {
    const stack = await readStack();
    const { playInBrowser } = await import('./demo/browser.ts');
    await playInBrowser(stack, wanted);
  }
} catch (error) {
  console.error(`\ndemo: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
