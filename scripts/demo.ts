// npm run demo: the whole main job against what `npm start` runs, step by step. Exits with 1 when any step fails.
import { AbiFunction, Hex, Secp256k1 } from 'ox';
import { didRegistryAbi } from '../lib/chain/abi.ts';
import { didHash } from '../lib/did.ts';
import { STACK_FILE, type Stack } from './start.ts';
import { connectChain } from './world/chain.ts';
import type { Message } from './world/mailbox.ts';
import { addressOf, sendTransaction } from './world/wallet.ts';

const WAIT_MS = 20_000;
const NO_ALIAS = Hex.padLeft('0x', 32);

async function main(): Promise<void> {
  const stack = await readStack();
  const vault = client(stack.vault);
  const identifier = `demo-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const channel = 'email';

  step('What is running');
  await vault('GET', '/api/status');

  step(`Prove ${identifier}: ask for a one-time code`);
  await vault('POST', '/api/verify/send', { identifier, channel });
  const mail = await waitFor('the mail', () => newestMail(stack, identifier));
  console.log(indent(`mail for ${identifier}\nSubject: ${mail.subject}\n\n${mail.text.trim()}`));
  const code = /\b\d{6}\b/.exec(mail.text)?.[0];

  step('Check the code, and get an attestation');
  const { attestation } = await vault('POST', '/api/verify/check', { identifier, channel, code });
  if (!attestation) throw new Error('the code was not accepted');

  step('Open a session for a DID');
  const wallet = await fundedWallet(stack);
  const did = `did:pkh:eip155:84532:${wallet.address}`;
  await vault('POST', '/api/sessions', { identifier, channel, did });

  step(`Register the DID on-chain, in ${stack.didRegistry}`);
  const register = AbiFunction.fromAbi(didRegistryAbi, 'register');
  const data = AbiFunction.encodeData(register, [didHash(did), NO_ALIAS, '']);
  const receipt = await sendTransaction(connectChain(stack.chain), wallet.privateKey, { to: stack.didRegistry, data });
  const { transactionHash: txHash, blockNumber } = receipt;
  console.log(indent(`transaction ${txHash}\nblock ${Number(blockNumber)}, gas used ${Number(receipt.gasUsed)}`));

  step('Record it with the vault, with the attestation as proof of the address');
  const credentialId = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
  await vault('POST', '/api/dids', { credentialId, identifier, channel, did, txHash, attestation });

  step('Wait until the vault has read the chain, and look the DID up by its passkey');
  const lookup = `/api/dids/lookup?credentialId=${credentialId}`;
  await waitFor('the confirmation', async () => {
    const found = (await (await fetch(stack.vault + lookup)).json()) as { status: string };
    return found.status === 'submitted' ? undefined : found;
  });
  const found = await vault('GET', lookup);
  if (found['status'] !== 'confirmed' || found['did'] !== did) throw new Error('the registration is not confirmed');
  console.log(`\nDone: ${identifier} is proven, and ${did} is registered and confirmed.`);
}

async function readStack(): Promise<Stack> {
  const file = Bun.file(STACK_FILE);
  if (!(await file.exists()))
    throw new Error('nothing is running here: start it first, in another terminal, with  npm start');
  return (await file.json()) as Stack;
}

let steps = 0;
function step(text: string): void {
  console.log(`\n${++steps}. ${text}`);
}

/** Prints each request and its answer. Throws at any status but 200. Each run is a client of its own: the limits are per IP. */
function client(base: string) {
  const ip = `198.51.100.${1 + Math.floor(Math.random() * 254)}`;
  return async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    console.log(indent(`${method} ${path}${body === undefined ? '' : `\n${JSON.stringify(body)}`}`));
    const headers = { 'Content-Type': 'application/json', 'Edge-Connecting-IP': ip };
    const response = await fetch(base + path, { method, headers, ...text });
    const answer = await response.text();
    console.log(indent(`→ ${response.status} ${answer}`));
    if (response.status !== 200) throw new Error(`${method} ${path} was answered with ${response.status}`);
    return JSON.parse(answer) as Record<string, unknown>;
  };
}

async function newestMail(stack: Stack, to: string): Promise<Message | undefined> {
  const response = await fetch(`${stack.inbox}/messages?to=${encodeURIComponent(to)}`);
  return ((await response.json()) as Message[]).at(-1);
}

/** A new account with a little of the local chain's ether. */
async function fundedWallet({ chain }: Stack) {
  const privateKey = Secp256k1.randomPrivateKey();
  const address = addressOf(privateKey);
  await connectChain(chain)('anvil_setBalance', [address, Hex.fromNumber(10n ** 18n)]);
  return { privateKey, address };
}

async function waitFor<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + WAIT_MS;
  while (performance.now() < deadline) {
    const found = await ask();
    if (found !== undefined) return found;
    await Bun.sleep(50);
  }
  throw new Error(`${what} did not come within ${WAIT_MS / 1000} s`);
}

function indent(text: string): string {
  return text.replace(/^/gm, '   ');
}

try {
  await main();
} catch (error) {
  console.error(`\ndemo: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
