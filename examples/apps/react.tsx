// An app in React: a person signs up or in, and pays.
import { type FormEvent, type InputHTMLAttributes, StrictMode, useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { type CodeAnswer, type CodeRequest, createClient, VaultClientError } from 'vault/client';

const vault = createClient({ url: 'https://vault.example.com' });
/** Yours comes from your server, which checks the payment. The same id is paid once. */
const order = {
  id: crypto.randomUUID(),
  to: '0x00000000000000000000000000000000000A11cE',
  amount: '1250000',
  token: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  chainId: 84532,
};
const total = { currency: 'USD', value: '1.25' };

/** A code that the person is asked for, and how the form gives it. */
interface Question {
  readonly request: CodeRequest;
  readonly answer: (code: CodeAnswer) => void;
}

function App() {
  const [did, setDid] = useState('');
  const [notice, setNotice] = useState('');
  const [question, setQuestion] = useState<Question>();
  const leaving = useRef<AbortController>(undefined);
  // A page that is left closes the passkey's dialog. What was begun is kept.
  useEffect(() => () => leaving.current?.abort(), []);

  const run = (act: () => Promise<string>) => {
    setNotice('…');
    act().then(setNotice, (error) => {
      setNotice(error instanceof VaultClientError ? (error.hint ?? error.error) : String(error));
    });
  };
  const signUp = (email: string) =>
    run(async () => {
      leaving.current = new AbortController();
      const askCode = (request: CodeRequest) =>
        new Promise<CodeAnswer>((answer) => setQuestion({ request, answer })).finally(() => setQuestion(undefined));
      const person = await vault.register({ email, askCode, signal: leaving.current.signal });
      setDid(person.did);
      person.confirmed.then(
        () => setNotice('Confirmed'),
        (error) => setNotice(error.hint ?? error.message),
      );
      return 'Signed up';
    });
  const startOver = () => {
    vault.forget();
    setNotice('');
  };
  const signIn = () =>
    run(async () => {
      setDid((await vault.signIn()).did);
      return 'Signed in';
    });
  const buy = () =>
    run(async () => {
      const receipt = await vault.pay({ ...order, total });
      const { status } = await vault.verifyPayment(receipt, { origin: location.origin, ...order });
      return status === 'paid' ? 'Thank you' : `Payment: ${status}`;
    });

  // After a reload the person goes on where she was.
  const begun = vault.pending();
  return (
    <main>
      <output>{notice}</output>
      {question && <CodeForm {...question} />}
      {!question && !did && (
        <>
          <TextForm
            label="Your email"
            type="email"
            autoComplete="email"
            defaultValue={begun?.identifier}
            then={signUp}
          />
          <Button name="sign-in" label="I have a passkey" act={signIn} />
          {begun && <Button name="over" label="Start over" act={startOver} />}
        </>
      )}
      {did && (
        <p>
          You are <code>{did}</code>
        </p>
      )}
      <Button name="buy" label="Pay 1.25 USDC" act={buy} />
    </main>
  );
}

function CodeForm({ request: { identifier, problem, nextAt }, answer }: Question) {
  const soon = `Another code can be sent from ${new Date(nextAt).toLocaleTimeString()} on.`;
  const another = `That code is over: we sent another one to ${identifier}.`;
  const words: Record<string, string> = { 'Too soon': soon, 'Code expired': another, 'Too many attempts': another };
  return (
    <>
      <p>{problem ? (words[problem] ?? problem) : `The code that we sent to ${identifier}`}</p>
      <TextForm label="Code" inputMode="numeric" autoComplete="one-time-code" then={answer} />
      <Button name="again" label="Send another code" act={() => answer({ resend: true })} />
      <Button name="cancel" label="Cancel" act={() => answer(null)} />
    </>
  );
}

function Button({ name, label, act }: { readonly name: string; readonly label: string; readonly act: () => void }) {
  return (
    <button id={name} type="button" onClick={act}>
      {label}
    </button>
  );
}

interface TextFormProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly label: string;
  readonly then: (text: string) => void;
}

function TextForm({ label, then, ...input }: TextFormProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    then(String(new FormData(form).get('text')));
    form.reset();
  };
  return (
    <form onSubmit={submit}>
      <label>
        {label} <input name="text" required {...input} />
      </label>
      <button type="submit">Continue</button>
    </form>
  );
}

const root = document.getElementById('app');
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
