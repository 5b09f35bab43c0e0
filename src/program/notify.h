/* program/notify.h: tells whoever supervises this process how it is: one datagram to $NOTIFY_SOCKET
 * (sd_notify(3)). */
#ifndef ALK_PROGRAM_NOTIFY_H
#define ALK_PROGRAM_NOTIFY_H

/* Sends message ("READY=1"). Without $NOTIFY_SOCKET, or when nobody listens there, nothing happens.
 * */
void alk__notify(const char *message);

/* RELOADING=1 with the time that systemd wants beside it; READY=1 follows when it is over. */
void alk__notify_reloading(void);

#endif
