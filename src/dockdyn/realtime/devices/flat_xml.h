/* XML as devices write it: a root with attributes and elements without elements in them; nothing else is taken. */
#ifndef DOCKDYN_FLAT_XML_H
#define DOCKDYN_FLAT_XML_H

#include "device.h"

enum { DD_XML_LONGEST = 2048 };

typedef struct dd_text { /* part of a packet */
    const uint8_t *at;
    size_t size;
} dd_text;

typedef struct dd_element {
    dd_text name, attributes, content;
} dd_element;

int dd_xml_check(const uint8_t *packet, size_t size, const char *name, dd_element *root);
int dd_xml_find(const dd_element *root, const char *name, dd_element *found);
int dd_xml_attribute(const dd_element *element, const char *name, dd_text *value);
dd_text dd_xml_stripped(dd_text text);
int dd_text_is(dd_text text, const char *word);

#endif
