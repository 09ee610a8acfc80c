// Sends one mail to SMTP_URL in a process of its own and prints `sent` or the failure: a process reads
// NODE_EXTRA_CA_CERTS only as it starts.
import { smtpMailer } from '../../commands/mail/smtp.ts';

const mailer = smtpMailer(process.env['SMTP_URL'] ?? '');
const mail = {
  from: 'Vault <vault@example.net>',
  to: 'alice@example.com',
  subject: 'Hello',
  text: 'text',
  html: '<p>html',
};
console.log(
  await mailer.send(mail).then(
    () => 'sent',
    (error: Error) => error.message,
  ),
);
await mailer.close();
