// What all of these need. There is no libc: the functions of mathematics are imported, or linked from
// a library where there is one.

#define EXPORT(name) __attribute__((export_name(#name)))
#define sqrt __builtin_sqrt

double exp(double);
double log(double);
double sin(double);
double cos(double);
