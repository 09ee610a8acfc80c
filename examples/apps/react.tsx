// An app in React: a person signs up or in, and pays.
import { type FormEvent, StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { type CodeRequest, createClient, VaultClientError } from 'vault/client';

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
  readonly answer: (code: string | null) => void;
}

function App() {
  const [did, setDid] = useState('');
  const [notice, setNotice] = useState('');
  const [question, setQuestion] = useState<Question>();

  const run = (act: () => Promise<string>) => {
    setNotice('…');
    act().then(setNotice, (error) => {
      setNotice(error instanceof VaultClientError ? (error.hint ?? error.error) : String(error));
    });
  };
  const signUp = (email: string) =>
    run(async () => {
      const askCode = (request: CodeRequest) =>
        new Promise<string | null>((answer) => setQuestion({ request, answer })).finally(() => setQuestion(undefined));
      const person = await vault.register({ email, askCode });
      setDid(person.did);
      person.confirmed.then(
        () => setNotice('Confirmed'),
        (error) => setNotice(error.message),
      );
      return 'Signed up';
    });
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

  return (
    <main>
      <output>{notice}</output>
      {question ? (
        <TextForm label={question.request.problem ?? 'The code that we sent'} then={question.answer} />
      ) : (
        !did && <TextForm label="Your email" then={signUp} />
      )}
      {did ? (
        <p>
          You are <code>{did}</code>
        </p>
      ) : (
        <button id="sign-in" type="button" onClick={signIn}>
          I have a passkey
        </button>
      )}
      <button id="buy" type="button" onClick={buy}>
        Pay 1.25 USDC
      </button>
    </main>
  );
}

function TextForm({ label, then }: { readonly label: string; readonly then: (text: string) => void }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    then(String(new FormData(event.currentTarget).get('text')));
  };
  return (
    <form onSubmit={submit} key={label}>
      <label>
        {label} <input name="text" required autoComplete="one-time-code" />
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
